package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// poolServer is an API server that knows one DesignatePool, with a count of the patches sent to it.
type poolServer struct {
	client.WithWatch
	patches int
}

func newPoolServer(t *testing.T, pool *v1alpha1.DesignatePool) *poolServer {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &poolServer{}
	base := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pool).WithStatusSubresource(pool).Build()
	s.WithWatch = interceptor.NewClient(base, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			s.patches++
			return c.Patch(ctx, obj, patch, opts...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			s.patches++
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	})
	return s
}

func (s *poolServer) read(t *testing.T) *v1alpha1.DesignatePool {
	t.Helper()
	pool := &v1alpha1.DesignatePool{}
	if err := s.Get(context.Background(), client.ObjectKey{Namespace: "dns", Name: "edge"}, pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

func edge() *v1alpha1.DesignatePool {
	return &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "edge", UID: "uid-1", Generation: 3}}
}

// R13: the base of the patch is taken right before the change.
func TestStatusWritesOnlyADifference(t *testing.T) {
	s := newPoolServer(t, edge())
	change := func(pool *v1alpha1.DesignatePool) func() {
		return func() {
			pool.Status.Replicas = 2
			pool.Status.Servers = []v1alpha1.PoolServer{{Ordinal: 0, Pod: "p", RNDCKey: 1}}
		}
	}
	for _, want := range []int{1, 1, 1} {
		pool := s.read(t)
		if err := new(Statuses).Write(context.Background(), s, pool, change(pool)); err != nil {
			t.Fatal(err)
		}
		if s.patches != want {
			t.Errorf("%d patches, want %d", s.patches, want)
		}
	}
	// What is empty is the same, however it is written.
	pool := s.read(t)
	if err := new(Statuses).Write(context.Background(), s, pool, func() { pool.Status.Conditions = []metav1.Condition{} }); err != nil || s.patches != 1 {
		t.Errorf("%d patches, error %v; want no patch for nil becoming empty", s.patches, err)
	}
	if got := s.read(t).Status.Replicas; got != 2 {
		t.Errorf("the status says %d replicas, want 2", got)
	}
}

func TestStatusOfAnObjectThatChangedMeanwhileIsNotWritten(t *testing.T) {
	s := newPoolServer(t, edge())
	stale := s.read(t)
	other := s.read(t)
	if err := new(Statuses).Write(context.Background(), s, other, func() { other.Status.PoolID = "theirs" }); err != nil {
		t.Fatal(err)
	}
	err := new(Statuses).Write(context.Background(), s, stale, func() { stale.Status.Replicas = 9 })
	if !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	if got := s.read(t).Status; got.Replicas != 0 || got.PoolID != "theirs" {
		t.Errorf("the status is %+v, want the other writer's alone", got)
	}
}

func TestAStatusOlderThanOurOwnWriteIsNotCompared(t *testing.T) {
	s, statuses := newPoolServer(t, edge()), &Statuses{}
	write := func(pool *v1alpha1.DesignatePool, id string) error {
		return statuses.Write(context.Background(), s, pool, func() { pool.Status.PoolID = id })
	}
	if err := write(s.read(t), "first"); err != nil {
		t.Fatal(err)
	}
	stale := s.read(t)
	if err := write(s.read(t), "second"); err != nil {
		t.Fatal(err)
	}
	// In what the cache still has, this is what the status says already.
	if err := write(stale, "first"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict, so that there is another pass", err)
	}
	if err := write(s.read(t), "first"); err != nil {
		t.Errorf("error %v once the cache has the newest status", err)
	}
	if got := s.read(t).Status.PoolID; got != "first" {
		t.Errorf("the status says %q, want first", got)
	}
}

func TestConditions(t *testing.T) {
	longAgo := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	existing := func() []metav1.Condition {
		return []metav1.Condition{
			{Type: "Owned", Status: metav1.ConditionTrue, Reason: "Good", Message: "good", ObservedGeneration: 1, LastTransitionTime: longAgo},
			{Type: "Foreign", Status: metav1.ConditionTrue, Reason: "Theirs", ObservedGeneration: 1, LastTransitionTime: longAgo},
		}
	}
	type seen struct {
		Status     metav1.ConditionStatus
		Reason     string
		Generation int64
		Moved      bool
	}
	foreign := seen{metav1.ConditionTrue, "Theirs", 1, false}
	for name, test := range map[string]struct {
		wanted []metav1.Condition
		want   map[string]seen
	}{
		"nothing new moves no time": {
			[]metav1.Condition{{Type: "Owned", Status: metav1.ConditionTrue, Reason: "Good", Message: "good"}},
			map[string]seen{"Owned": {metav1.ConditionTrue, "Good", 7, false}, "Foreign": foreign},
		},
		"another reason and message move no time": {
			[]metav1.Condition{{Type: "Owned", Status: metav1.ConditionTrue, Reason: "Better", Message: "better"}},
			map[string]seen{"Owned": {metav1.ConditionTrue, "Better", 7, false}, "Foreign": foreign},
		},
		"another status does": {
			[]metav1.Condition{{Type: "Owned", Status: metav1.ConditionFalse, Reason: "Bad"}},
			map[string]seen{"Owned": {metav1.ConditionFalse, "Bad", 7, true}, "Foreign": foreign},
		},
		"what is owned and not wanted goes, and what others own stays": {
			nil, map[string]seen{"Foreign": foreign},
		},
		"a new one is added": {
			[]metav1.Condition{{Type: "Other", Status: metav1.ConditionUnknown, Reason: "New"}},
			map[string]seen{"Other": {metav1.ConditionUnknown, "New", 7, true}, "Foreign": foreign},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := existing()
			Conditions(&conditions, 7, []string{"Owned", "Other"}, test.wanted)
			got := map[string]seen{}
			for _, c := range conditions {
				got[c.Type] = seen{c.Status, c.Reason, c.ObservedGeneration, !c.LastTransitionTime.Equal(&longAgo)}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongMessageIsCutBetweenCharacters(t *testing.T) {
	for _, shift := range []string{"", "x", "xx"} {
		var conditions []metav1.Condition
		long := shift + strings.Repeat("€", maxMessage)
		Conditions(&conditions, 1, nil, []metav1.Condition{{Type: "T", Status: metav1.ConditionTrue, Reason: "R", Message: long}})
		got := meta.FindStatusCondition(conditions, "T").Message
		if len(got) > maxMessage || len(got) < maxMessage-10 || !utf8.ValidString(got) || !strings.HasSuffix(got, "€ ...") {
			t.Errorf("the message has %d bytes and ends with %q; want it cut at %d", len(got), got[len(got)-8:], maxMessage)
		}
	}
}

func TestFinalizers(t *testing.T) {
	ctx := context.Background()
	pool := edge()
	pool.Finalizers = []string{"example.org/theirs"}
	s := newPoolServer(t, pool)
	for _, want := range []int{1, 1} { // The second time there is nothing to do.
		if err := AddFinalizer(ctx, s, s.read(t), v1alpha1.PoolFinalizer); err != nil || s.patches != want {
			t.Fatalf("%d patches, error %v; want %d", s.patches, err, want)
		}
	}
	if diff := cmp.Diff([]string{"example.org/theirs", v1alpha1.PoolFinalizer}, s.read(t).Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	for _, want := range []int{2, 2} {
		if err := RemoveFinalizer(ctx, s, s.read(t), v1alpha1.PoolFinalizer); err != nil || s.patches != want {
			t.Fatalf("%d patches, error %v; want %d", s.patches, err, want)
		}
	}
	if diff := cmp.Diff([]string{"example.org/theirs"}, s.read(t).Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

func TestFinalizersOfAnObjectMadeAnewAreLeftAlone(t *testing.T) {
	ctx := context.Background()
	first := edge()
	first.Finalizers = []string{v1alpha1.PoolFinalizer}
	s := newPoolServer(t, first)
	read := s.read(t)
	if err := RemoveFinalizer(ctx, s, s.read(t), v1alpha1.PoolFinalizer); err != nil {
		t.Fatal(err)
	}
	second := edge()
	second.UID, second.Finalizers = "uid-2", []string{v1alpha1.PoolFinalizer}
	if err := errors.Join(s.Delete(ctx, s.read(t)), s.Create(ctx, second)); err != nil {
		t.Fatal(err)
	}
	if err := RemoveFinalizer(ctx, s, read, v1alpha1.PoolFinalizer); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	if diff := cmp.Diff([]string{v1alpha1.PoolFinalizer}, s.read(t).Finalizers); diff != "" {
		t.Errorf("finalizers of the new object (-want +got):\n%s", diff)
	}
}
