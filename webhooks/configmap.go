package webhooks

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// config/webhook narrows these two to the one name that matters, so that an outage of ours holds up nobody else's
// ConfigMaps.
//
// +kubebuilder:webhook:path=/validate-multipool-config,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups="",resources=configmaps,verbs=create;update,versions=v1,name=multipool-config.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-multipool-config,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups="",resources=configmaps,verbs=delete,versions=v1,name=multipool-config-removal.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1

const configMapPath = "/validate-multipool-config"

// configMapValidator judges the ConfigMap designate-multipool-config, and no other.
type configMapValidator struct {
	reader client.Reader
	zones  zoneKeeper
}

// ValidateCreate implements admission.Validator.
func (v configMapValidator) ValidateCreate(
	ctx context.Context, configMap *corev1.ConfigMap,
) (admission.Warnings, error) {
	if configMap.Name != v1alpha1.MultipoolConfigMapName {
		return nil, nil
	}
	config, err := conversion.ParseConfigMap(configMap)
	if err != nil {
		return nil, err
	}
	migration, err := v.migrationWarnings(ctx, configMap.Namespace)
	return append(migration, config.Warnings...), err
}

// ValidateUpdate implements admission.Validator.
func (v configMapValidator) ValidateUpdate(
	ctx context.Context, before, after *corev1.ConfigMap,
) (admission.Warnings, error) {
	if after.Name != v1alpha1.MultipoolConfigMapName ||
		equality.Semantic.DeepEqual(before.Data, after.Data) &&
			equality.Semantic.DeepEqual(before.BinaryData, after.BinaryData) {
		return nil, nil
	}
	config, err := conversion.ParseConfigMap(after)
	if err != nil {
		return nil, err
	}
	dropped, err := v.poolsMadeFrom(ctx, before)
	if err != nil {
		return nil, err
	}
	for _, pool := range config.Pools {
		dropped.Delete(pool.Name)
	}
	removal, err := v.zones.mayGo(ctx, after.Namespace, dropped)
	return append(removal, config.Warnings...), err
}

// ValidateDelete implements admission.Validator.
func (v configMapValidator) ValidateDelete(
	ctx context.Context, configMap *corev1.ConfigMap,
) (admission.Warnings, error) {
	if configMap.Name != v1alpha1.MultipoolConfigMapName {
		return nil, nil
	}
	dropped, err := v.poolsMadeFrom(ctx, configMap)
	if err != nil {
		return nil, err
	}
	dropped.Delete(v1alpha1.DefaultPoolName)
	return v.zones.mayGo(ctx, configMap.Namespace, dropped)
}

// poolsMadeFrom names the pools that exist on account of a ConfigMap that was stored: those it lists, or, should it be
// unusable, those that an earlier and usable text has left.
func (v configMapValidator) poolsMadeFrom(ctx context.Context, stored *corev1.ConfigMap) (sets.Set[string], error) {
	names := sets.New[string]()
	if config, err := conversion.ParseConfigMap(stored); err == nil {
		for _, pool := range config.Pools {
			names.Insert(pool.Name)
		}
		return names, nil
	}
	pools, err := poolsOf(ctx, v.reader, stored.Namespace)
	if err != nil {
		return nil, err
	}
	for i := range pools {
		if pools[i].MadeByBridge() {
			names.Insert(pools[i].PoolName())
		}
	}
	return names, nil
}

// migrationWarnings tells people with servers in single-pool mode that their list has these move, and what that needs.
func (v configMapValidator) migrationWarnings(ctx context.Context, namespace string) (admission.Warnings, error) {
	backend, err := backendOf(ctx, v.reader, namespace)
	if err != nil || backend == nil || backend.Status.Mode != v1alpha1.SinglePool ||
		backend.Status.Servers == nil || backend.Status.Servers.Ready == 0 {
		return nil, err
	}
	return admission.Warnings{fmt.Sprintf("this namespace runs a single pool with %d ready servers, which new ones in another StatefulSet "+
		"replace one by one: until that is over (condition %s) both run, and need storage for both",
		backend.Status.Servers.Ready, v1alpha1.ConditionMigrating)}, nil
}
