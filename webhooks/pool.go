package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// +kubebuilder:webhook:path=/validate-designatepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups=designate.openstack.org,resources=designatepools,verbs=create;update,versions=v1alpha1,name=designatepool.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-designatepool,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups=designate.openstack.org,resources=designatepools,verbs=delete,versions=v1alpha1,name=designatepool-removal.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1

const poolPath = "/validate-designatepool"

// poolValidator judges DesignatePools.
type poolValidator struct {
	reader client.Reader
	zones  zoneKeeper
}

// ValidateCreate implements admission.Validator.
func (v poolValidator) ValidateCreate(
	ctx context.Context, pool *v1alpha1.DesignatePool,
) (admission.Warnings, error) {
	if pool.MadeByBridge() {
		return nil, errBridgeLabel
	}
	notices, err := judgeAnnotations(&v1alpha1.DesignatePool{}, pool)
	if err != nil {
		return nil, err
	}
	warnings, err := conversion.ValidatePool(pool)
	if err == nil {
		err = v.checkNameIsFree(ctx, pool)
	}
	if err != nil {
		return nil, err
	}
	beside, err := v.neighbourWarnings(ctx, pool)
	return append(append(notices, warnings...), beside...), err
}

// ValidateUpdate implements admission.Validator.
func (v poolValidator) ValidateUpdate(
	ctx context.Context, before, after *v1alpha1.DesignatePool,
) (admission.Warnings, error) {
	if before.MadeByBridge() != after.MadeByBridge() {
		return nil, errBridgeLabel
	}
	notices, err := judgeAnnotations(before, after)
	if err != nil {
		return nil, err
	}
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return notices, nil
	}
	if after.MadeByBridge() {
		return nil, editItsSource(ctx, v.reader, after)
	}
	warnings, err := conversion.ValidatePool(after)
	if err != nil {
		return nil, err
	}
	beside, err := v.neighbourWarnings(ctx, after)
	return append(append(notices, warnings...), beside...), err
}

// neighbourWarnings name what is likely wrong with a pool beside the others of its namespace.
func (v poolValidator) neighbourWarnings(ctx context.Context, pool *v1alpha1.DesignatePool) ([]string, error) {
	pools, err := poolsOf(ctx, v.reader, pool.Namespace)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(pools, func(p v1alpha1.DesignatePool) bool { return p.Name == pool.Name })
	return conversion.NeighbourWarnings(pool, others), nil
}

// ValidateDelete implements admission.Validator.
func (v poolValidator) ValidateDelete(
	ctx context.Context, pool *v1alpha1.DesignatePool,
) (admission.Warnings, error) {
	if !pool.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	holds, err := v.holdsItsName(ctx, pool)
	if err != nil || !holds {
		// A pool that never held its name has nothing to lose.
		return nil, err
	}
	backend, err := backendOf(ctx, v.reader, pool.Namespace)
	if err != nil {
		return nil, err
	}
	if backend != nil && backend.DeletionTimestamp.IsZero() {
		if err := v.checkMayGo(ctx, pool); err != nil {
			return nil, err
		}
	}
	if pool.Annotations[v1alpha1.AnnotationForceRemoval] == pool.PoolName() {
		return admission.Warnings{forceWarning(pool)}, nil
	}
	if denial, _ := v.zones.judge(pool, backend); denial != "" {
		return nil, errors.New(denial)
	}
	return admission.Warnings{fmt.Sprintf("the deletion of pool %q cannot be taken back: it works on until its removal is "+
		"allowed, which waits for its zones to be gone (condition %s)",
		pool.PoolName(), v1alpha1.ConditionRemovalBlocked)}, nil
}

// checkMayGo tells whether a pool may be deleted by hand while its DesignateBackend lives.
func (v poolValidator) checkMayGo(ctx context.Context, pool *v1alpha1.DesignatePool) error {
	if pool.IsDefault() {
		return fmt.Errorf("the pool %q stays as long as the DesignateBackend %s does: Designate puts zones there that "+
			"match no other pool; set bindReplicas to 0 to stop its servers, or delete the DesignateBackend to remove "+
			"every pool", v1alpha1.DefaultPoolName, v1alpha1.BackendName)
	}
	if !pool.MadeByBridge() {
		return nil
	}
	var configMap corev1.ConfigMap
	key := client.ObjectKey{Namespace: pool.Namespace, Name: v1alpha1.MultipoolConfigMapName}
	if err := v.reader.Get(ctx, key, &configMap); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", key.Name, err)
	}
	config, err := conversion.ParseConfigMap(&configMap)
	if err != nil {
		return fmt.Errorf("whether pool %q is still listed cannot be told, for its list has faults: "+
			"edit the ConfigMap %s (%w)", pool.PoolName(), key.Name, err)
	}
	for _, listed := range config.Pools {
		if listed.Name == pool.PoolName() {
			return fmt.Errorf("pool %q is still listed and would be made again: edit the ConfigMap %s and take it off",
				pool.PoolName(), key.Name)
		}
	}
	return nil
}

var errBridgeLabel = errors.New("the label " + v1alpha1.LabelSource + "=" + v1alpha1.SourceBridge +
	" marks pools that the operator makes from a list, and is not for hands to put on or take off: edit the ConfigMap " +
	v1alpha1.MultipoolConfigMapName + " to have such a pool, or leave the label out")

// editItsSource is the denial of a change to what a bridge-made pool's source says. Without the ConfigMap, the source of
// the default pool is the DesignateBackend.
func editItsSource(ctx context.Context, reader client.Reader, pool *v1alpha1.DesignatePool) error {
	key := client.ObjectKey{Namespace: pool.Namespace, Name: v1alpha1.MultipoolConfigMapName}
	err := reader.Get(ctx, key, &corev1.ConfigMap{})
	switch {
	case pool.IsDefault() && apierrors.IsNotFound(err):
		return fmt.Errorf("pool %q follows its source: edit spec.defaultPool of the DesignateBackend %s",
			pool.PoolName(), v1alpha1.BackendName)
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("pool %q follows its source, and which that is could not be read: %w", pool.PoolName(), err)
	}
	return fmt.Errorf("pool %q follows its source: edit the ConfigMap %s",
		pool.PoolName(), v1alpha1.MultipoolConfigMapName)
}
