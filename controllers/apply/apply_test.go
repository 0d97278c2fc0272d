package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const owner client.FieldOwner = "test"

var key = client.ObjectKey{Namespace: "dns", Name: "settings"}

// server is an API server, with a count of what was written to it.
type server struct {
	client.WithWatch
	writes int
	// fail, if set, is the error of every write.
	fail error
}

func newServer(objects ...client.Object) *server {
	s := &server{}
	count := func() error { s.writes++; return s.fail }
	s.WithWatch = interceptor.NewClient(fake.NewClientBuilder().WithObjects(objects...).WithReturnManagedFields().Build(), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if err := count(); err != nil {
				return err
			}
			return c.Apply(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := count(); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	})
	return s
}

// failingReads is a cache whose every Get fails with one error.
func failingReads(c client.WithWatch, err error) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
	})
}

func desired(data map[string]string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(key.Name, key.Namespace).
		WithLabels(map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}).
		WithData(data)
}

func ensure(writer Writer, data map[string]string, guard Guard) (live *corev1.ConfigMap, wrote bool, err error) {
	live = &corev1.ConfigMap{}
	object := Object[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration]{Live: live, Extract: corev1ac.ExtractConfigMap}
	wrote, err = Ensure(context.Background(), writer, object, desired(data), guard)
	return live, wrote, err
}

func stored(t *testing.T, c client.Reader) *corev1.ConfigMap {
	t.Helper()
	configMap := &corev1.ConfigMap{}
	if err := c.Get(context.Background(), key, configMap); err != nil {
		t.Fatal(err)
	}
	return configMap
}

func TestEnsureWritesOnlyWhatIsNotSoYet(t *testing.T) {
	s := newServer()
	writer := Writer{Client: s, Live: s, Owner: owner}
	for _, step := range []struct {
		name  string
		data  map[string]string
		wrote bool
	}{
		{"it is made", map[string]string{"a": "1", "b": "2"}, true},
		{"it is so already", map[string]string{"b": "2", "a": "1"}, false},
		{"a value changes", map[string]string{"a": "1", "b": "3"}, true},
		{"a key is dropped", map[string]string{"a": "1"}, true},
		{"all is dropped", map[string]string{}, true},
		{"an empty map is no map", nil, false},
	} {
		before := s.writes
		_, wrote, err := ensure(writer, step.data, OfOperator)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if wrote != step.wrote || s.writes-before != map[bool]int{true: 1}[step.wrote] {
			t.Errorf("%s: it says that it wrote: %v, and made %d writes; want %v", step.name, wrote, s.writes-before, step.wrote)
		}
		if got := stored(t, s).Data; len(got) != len(step.data) {
			t.Errorf("%s: the data is %v", step.name, got)
		}
	}
}

func TestEnsureRepairsWhatSomebodyElseChanged(t *testing.T) {
	s := newServer()
	writer := Writer{Client: s, Live: s, Owner: owner}
	if _, _, err := ensure(writer, map[string]string{"a": "1"}, OfOperator); err != nil {
		t.Fatal(err)
	}
	edited := stored(t, s)
	edited.Data = map[string]string{"a": "edited", "theirs": "kept"}
	if err := s.Update(context.Background(), edited, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	_, wrote, err := ensure(writer, map[string]string{"a": "1"}, OfOperator)
	if err != nil || !wrote {
		t.Fatalf("wrote %v, error %v; want the edit undone", wrote, err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "theirs": "kept"}, stored(t, s).Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

func TestEnsureLeavesAloneWhatTheGuardRefuses(t *testing.T) {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"a": "theirs"}}
	s := newServer(foreign)
	_, wrote, err := ensure(Writer{Client: s, Live: s, Owner: owner}, map[string]string{"a": "1"}, OfOperator)
	var taken *NameTakenError
	if !errors.As(err, &taken) || wrote || s.writes != 0 {
		t.Errorf("wrote %v with %d writes, error %v; want a NameTakenError and no write", wrote, s.writes, err)
	}
	if got := stored(t, s).Data["a"]; got != "theirs" {
		t.Errorf("the foreign object holds %q", got)
	}
}

// TestEnsureAsksTheServerWhetherANameIsFree: a foreign object is not in the cache, which holds what bears our label.
func TestEnsureAsksTheServerWhetherANameIsFree(t *testing.T) {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	s := newServer(foreign)
	cache := failingReads(s, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name))
	_, wrote, err := ensure(Writer{Client: cache, Live: s, Owner: owner}, nil, OfOperator)
	var taken *NameTakenError
	if !errors.As(err, &taken) || wrote || s.writes != 0 {
		t.Errorf("wrote %v with %d writes, error %v; want a NameTakenError and no write", wrote, s.writes, err)
	}
}

func TestEnsureNeverTakesAnErrorForAbsence(t *testing.T) {
	broken := apierrors.NewInternalError(errors.New("etcd is down"))
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
	for name, test := range map[string]struct{ cache, live error }{
		"the cache fails": {broken, absent},
		"the cache knows nothing and the server fails": {absent, broken},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer()
			writer := Writer{Client: failingReads(s, test.cache), Live: failingReads(s, test.live), Owner: owner}
			_, wrote, err := ensure(writer, nil, OfOperator)
			if !apierrors.IsInternalError(err) || wrote || s.writes != 0 {
				t.Errorf("wrote %v with %d writes, error %v; want the error and no write", wrote, s.writes, err)
			}
		})
	}
}

func TestEnsureReturnsAFailedWrite(t *testing.T) {
	s := newServer()
	s.fail = apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, key.Name, errors.New("no"))
	_, wrote, err := ensure(Writer{Client: s, Live: s, Owner: owner}, nil, OfOperator)
	if !apierrors.IsConflict(err) || wrote || !strings.Contains(err.Error(), "dns/settings") {
		t.Errorf("wrote %v, error %v; want the conflict, with the object's name", wrote, err)
	}
}

func TestEnsureWaitsForWhatIsBeingDeleted(t *testing.T) {
	s := newServer()
	writer := Writer{Client: s, Live: s, Owner: owner}
	if _, _, err := ensure(writer, map[string]string{"a": "1"}, OfOperator); err != nil {
		t.Fatal(err)
	}
	held := stored(t, s)
	held.Finalizers = []string{"example.org/held"}
	if err := errors.Join(s.Update(context.Background(), held), s.Delete(context.Background(), held)); err != nil {
		t.Fatal(err)
	}
	s.writes = 0
	if _, wrote, err := ensure(writer, map[string]string{"a": "2"}, OfOperator); err == nil || wrote || s.writes != 0 {
		t.Errorf("wrote %v with %d writes, error %v; want an error and no write", wrote, s.writes, err)
	}
}

func TestEnsureHandsBackTheObjectBeforeTheWrite(t *testing.T) {
	s := newServer()
	writer := Writer{Client: s, Live: s, Owner: owner}
	live, _, err := ensure(writer, map[string]string{"a": "1"}, OfOperator)
	if err != nil || live.Name != "" {
		t.Errorf("a new object is handed back with the name %q, error %v; want none", live.Name, err)
	}
	live, _, err = ensure(writer, map[string]string{"a": "2"}, OfOperator)
	if err != nil || live.Data["a"] != "1" {
		t.Errorf("the object is handed back with %v, error %v; want it as it was", live.Data, err)
	}
}

func TestGuards(t *testing.T) {
	const uid = "uid-1"
	object := func(labels map[string]string, owners ...metav1.OwnerReference) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", Labels: labels, OwnerReferences: owners}}
	}
	controller := metav1.OwnerReference{Kind: "ReplicaSet", Name: "theirs", Controller: ptr.To(true)}
	bystander := metav1.OwnerReference{Kind: "ReplicaSet", Name: "theirs"}
	mine := map[string]string{v1alpha1.LabelPoolUID: uid}
	ours := map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator}
	for name, test := range map[string]struct {
		guard  Guard
		object client.Object
		// holder is part of what the error says; empty where the object may be written.
		holder string
	}{
		"a pool's own object":                        {OfPool(uid), object(mine), ""},
		"one that somebody owns without controlling": {OfPool(uid), object(mine, bystander), ""},
		"one that something else controls":           {OfPool(uid), object(mine, controller), "the ReplicaSet theirs, which controls it"},
		"one of the pool that had this name before": {
			OfPool(uid), object(map[string]string{v1alpha1.LabelPoolUID: "uid-0", v1alpha1.LabelPool: "edge"}), "the DesignatePool edge with UID uid-0",
		},
		"one without labels":                    {OfPool(uid), object(nil), "not this operator's"},
		"one of the operator and of no pool":    {OfPool(uid), object(ours), "not this operator's"},
		"an object that a namespace has once":   {OfOperator, object(ours), ""},
		"one that something controls":           {OfOperator, object(ours, controller), "the ReplicaSet theirs, which controls it"},
		"one that is managed by something else": {OfOperator, object(map[string]string{v1alpha1.LabelManagedBy: "Helm"}), "not this operator's"},
		"one that is managed by nothing":        {OfOperator, object(nil), "not this operator's"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.guard(test.object)
			if test.holder == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var taken *NameTakenError
			if !errors.As(err, &taken) {
				t.Fatalf("error %v, want a NameTakenError", err)
			}
			if taken.Kind != "Secret" || taken.Name != "keys" || !strings.Contains(err.Error(), test.holder) {
				t.Errorf("got %q for %s %s, want it to name Secret keys and %q", err, taken.Kind, taken.Name, test.holder)
			}
		})
	}
}
