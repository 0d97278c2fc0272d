package jobs

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func TestNewest(t *testing.T) {
	elsewhere := job(9)
	elsewhere.Namespace = "other"
	theirs := job(9, func(job *batchv1.Job) { delete(job.Labels, v1alpha1.LabelManagedBy) })
	odd := job(9, complete, func(job *batchv1.Job) { job.Labels[v1alpha1.LabelPoolUpdateRun] = "nine" })
	for name, test := range map[string]struct {
		objects []client.Object
		number  int32
		active  bool
	}{
		"nothing is left":                   {nil, 0, false},
		"Jobs that have ended":              {[]client.Object{job(7, complete), job(11, failed), job(2, late)}, 11, false},
		"an input without a Job":            {[]client.Object{job(7, complete), input(8)}, 8, false},
		"a Job that goes on":                {[]client.Object{job(7), job(8, complete)}, 8, true},
		"a Job whose pod has failed":        {[]client.Object{job(7), pod(7, corev1.PodFailed)}, 7, true},
		"a pod that goes on without a Job":  {[]client.Object{job(8, complete), pod(7, corev1.PodRunning)}, 8, true},
		"a pod that has ended":              {[]client.Object{job(7, complete), pod(7, corev1.PodSucceeded)}, 7, false},
		"another namespace's":               {[]client.Object{elsewhere}, 0, false},
		"somebody else's":                   {[]client.Object{theirs}, 0, false},
		"a label that is not a number":      {[]client.Object{odd}, 0, false},
		"one that ended and one that fails": {[]client.Object{job(7, is(batchv1.JobFailureTarget, "x", "x"))}, 7, true},
	} {
		t.Run(name, func(t *testing.T) {
			number, active, err := Newest(t.Context(), server(test.objects...), namespace)
			if err != nil || number != test.number || active != test.active {
				t.Errorf("number %d, active %v, error %v; want %d, %v", number, active, err, test.number, test.active)
			}
		})
	}
}

func TestWhatIsLeftIsNotKnownAfterAnError(t *testing.T) {
	for _, kind := range []client.ObjectList{&batchv1.JobList{}, &corev1.ConfigMapList{}, &corev1.PodList{}} {
		c := brokenLists(server(job(7, complete), input(7)), kind)
		if number, active, err := Newest(t.Context(), c, namespace); !apierrors.IsInternalError(err) {
			t.Errorf("%T: number %d, active %v, error %v", kind, number, active, err)
		}
		if err := Collect(t.Context(), c, c, namespace, 8); !apierrors.IsInternalError(err) {
			t.Errorf("%T: collect: error %v", kind, err)
		}
		if got := left(t, c); len(got) != 2 {
			t.Errorf("%T: only these are left: %v", kind, got)
		}
	}
}

// left are the Jobs and inputs that are there, read by name: lists may be broken.
func left(t *testing.T, c client.Client) []string {
	t.Helper()
	var names []string
	for run := range int32(12) {
		for kind, object := range map[string]client.Object{"job": &batchv1.Job{}, "input": &corev1.ConfigMap{}} {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(input(run)), object)
			if client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if err == nil {
				names = append(names, kind+" "+object.GetName()[len("designate-pool-update-"):])
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestCollect(t *testing.T) {
	labelled := func(object client.Object, label, value string) client.Object {
		object.GetLabels()[label] = value
		return object
	}
	controlled := func(job *batchv1.Job) {
		job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.org/v1", Kind: "Other", Name: "o", UID: "o", Controller: ptr.To(true)}}
	}
	for name, test := range map[string]struct {
		objects []client.Object
		want    []string
	}{
		"the old go and the newest stays": {
			[]client.Object{job(5, complete), input(5), job(6, failed), input(6), job(7, complete), input(7)}, []string{"input 7", "job 7"},
		},
		"one whose number is higher goes too": {[]client.Object{job(9, complete), input(9), input(7)}, []string{"input 7"}},
		"an input whose Job is gone goes":     {[]client.Object{input(6)}, nil},
		"one that goes on stays with its input": {
			[]client.Object{job(6), input(6), job(5, complete)}, []string{"input 6", "job 6"},
		},
		"an input that a pod reads stays": {[]client.Object{input(6), pod(6, corev1.PodPending)}, []string{"input 6"}},
		"a Job whose pod goes on stays":   {[]client.Object{job(6, failed), pod(6, corev1.PodRunning)}, []string{"job 6"}},
		"somebody else's stay": {
			[]client.Object{labelled(job(5, complete), v1alpha1.LabelManagedBy, "helm"), job(6, complete, controlled)}, []string{"job 5", "job 6"},
		},
		"one whose label is not a number stays": {
			[]client.Object{labelled(input(5), v1alpha1.LabelPoolUpdateRun, "five"), labelled(input(6), v1alpha1.LabelPoolUpdateRun, "-6")},
			[]string{"input 5", "input 6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := server(test.objects...)
			if err := Collect(t.Context(), c, c, namespace, 7); err != nil {
				t.Fatal(err)
			}
			if got := left(t, c); !slices.Equal(got, test.want) {
				t.Errorf("left: %v, want %v", got, test.want)
			}
		})
	}
}

// TestCollectDeletesWithTheirPods: and the very objects that it has read, not ones made anew under their names.
func TestCollectDeletesWithTheirPods(t *testing.T) {
	var deletions int
	c := interceptor.NewClient(server(job(6, complete), input(6)), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			deletions++
			applied := (&client.DeleteOptions{}).ApplyOptions(options)
			if applied.PropagationPolicy == nil || *applied.PropagationPolicy != metav1.DeletePropagationBackground {
				t.Errorf("%T: propagation %v", object, applied.PropagationPolicy)
			}
			if applied.Preconditions == nil || applied.Preconditions.UID == nil || *applied.Preconditions.UID != object.GetUID() {
				t.Errorf("%T: preconditions %v", object, applied.Preconditions)
			}
			return c.Delete(ctx, object, options...)
		},
	})
	for range 2 {
		if err := Collect(t.Context(), c, c, namespace, 7); err != nil {
			t.Fatal(err)
		}
	}
	if deletions != 2 {
		t.Errorf("deletions: %d, want one each", deletions)
	}
}
