package webhooks

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// judgeAnnotations judges the annotations that steer a removal, as far as they were changed.
func judgeAnnotations(before, after *v1alpha1.DesignatePool) (admission.Warnings, error) {
	if changed(before, after, v1alpha1.AnnotationRemovalRequested) {
		return nil, fmt.Errorf("the annotation %s is the operator's own: edit the ConfigMap %s, or delete the "+
			"DesignatePool, to ask for the removal of pool %q", v1alpha1.AnnotationRemovalRequested,
			v1alpha1.MultipoolConfigMapName, after.PoolName())
	}
	value, set := after.Annotations[v1alpha1.AnnotationForceRemoval]
	if !set || !changed(before, after, v1alpha1.AnnotationForceRemoval) {
		return nil, nil
	}
	if value != after.PoolName() {
		return nil, fmt.Errorf("the annotation %s must hold the pool's own name, %q, so that no other pool is meant by "+
			"mistake; it holds %q", v1alpha1.AnnotationForceRemoval, after.PoolName(), value)
	}
	return admission.Warnings{forceWarning(after)}, nil
}

func changed(before, after *v1alpha1.DesignatePool, annotation string) bool {
	old, wasSet := before.Annotations[annotation]
	value, isSet := after.Annotations[annotation]
	return wasSet != isSet || old != value
}

func forceWarning(pool *v1alpha1.DesignatePool) string {
	return fmt.Sprintf("the annotation %s lets pool %q go without asking Designate: clients lose the zones that it still "+
		"has", v1alpha1.AnnotationForceRemoval, pool.PoolName())
}
