package jobs

import (
	"context"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// runs is all that is left of runs in a namespace.
type runs struct {
	jobs   []batchv1.Job
	inputs []corev1.ConfigMap
	// active are the runs with a Job that has not ended, or a pod that may be running still.
	active map[string]bool
}

func list(ctx context.Context, live client.Reader, namespace string) (*runs, error) {
	options := append(ofOperator(), client.InNamespace(namespace))
	var jobs batchv1.JobList
	var inputs corev1.ConfigMapList
	var pods corev1.PodList
	// Jobs first: whatever a Job makes while this goes on is then seen.
	for _, objects := range []client.ObjectList{&jobs, &inputs, &pods} {
		if err := live.List(ctx, objects, options...); err != nil {
			return nil, fmt.Errorf("list what is left of pool updates (%T): %w", objects, err)
		}
	}
	all := &runs{jobs: jobs.Items, inputs: inputs.Items, active: map[string]bool{}}
	for i := range jobs.Items {
		if !finished(&jobs.Items[i]) {
			all.active[label(&jobs.Items[i])] = true
		}
	}
	for i := range pods.Items {
		if !builders.PodEnded(&pods.Items[i]) {
			all.active[label(&pods.Items[i])] = true
		}
	}
	return all, nil
}

// Newest is the highest number of a run of which anything is left, and whether any of them goes on.
func Newest(ctx context.Context, live client.Reader, namespace string) (number int32, active bool, err error) {
	all, err := list(ctx, live, namespace)
	if err != nil {
		return 0, false, err
	}
	for i := range all.jobs {
		number = max(number, numberOf(&all.jobs[i]))
	}
	for i := range all.inputs {
		number = max(number, numberOf(&all.inputs[i]))
	}
	return number, len(all.active) > 0, nil
}

// Collect deletes the Jobs and inputs of all runs but one. What belongs to a run that goes on stays.
func Collect(ctx context.Context, c client.Client, live client.Reader, namespace string, keep int32) error {
	all, err := list(ctx, live, namespace)
	if err != nil {
		return err
	}
	old := make([]client.Object, 0, len(all.jobs)+len(all.inputs))
	for i := range all.jobs {
		old = append(old, &all.jobs[i])
	}
	for i := range all.inputs {
		old = append(old, &all.inputs[i])
	}
	for _, object := range old {
		number := numberOf(object)
		if number == 0 || number == keep || all.active[label(object)] || !apply.IsOperators(object) {
			continue
		}
		if err := apply.Delete(ctx, c, object); err != nil {
			return err
		}
	}
	return nil
}

func label(object client.Object) string { return object.GetLabels()[v1alpha1.LabelPoolUpdateRun] }

// numberOf is the number of the run that an object belongs to; 0 when its label holds none.
func numberOf(object client.Object) int32 {
	number, err := strconv.ParseInt(label(object), 10, 32)
	if err != nil || number < 0 {
		return 0
	}
	return int32(number)
}
