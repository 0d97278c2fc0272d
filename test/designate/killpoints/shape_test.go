package killpoints

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/conversion"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// shape is everything that a run must end with, without what differs from run to run by itself: UIDs, addresses, times, secrets,
// and the name of the world in those of pools.
func (w *world) shape(ctx context.Context) (string, error) {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.PodList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PersistentVolumeClaimList{},
	} {
		if err := kube.List(ctx, list, client.InNamespace(w.namespace), client.HasLabels{v1alpha1.LabelPoolUID}); err != nil {
			return "", err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no object", item)
			}
			add("%T %s of %s%s", object, object.GetName(), object.GetLabels()[v1alpha1.LabelPool], detail(object))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	stored, err := w.ledger(ctx)
	if err != nil {
		return "", err
	}
	for i := range stored.Pools {
		entry := &stored.Pools[i]
		add("ledger %s index %d removal %q wants %d", entry.Name, entry.Index, entry.Removal, entry.Accepted.BINDReplicas)
		for _, server := range entry.Servers {
			add("ledger %s server %d key %d listed %v joined %v", entry.Name, server.Ordinal, server.RNDCKey, server.Listed(), server.Joined)
		}
	}
	entries, err := w.poolsYAML(ctx)
	if err != nil {
		return "", err
	}
	for i := range entries {
		add("pools.yaml %s with %d servers", entries[i].Name, len(entries[i].Targets))
	}
	var pools v1alpha1.DesignatePoolList
	if err := kube.List(ctx, &pools, client.InNamespace(w.namespace)); err != nil {
		return "", err
	}
	for i := range pools.Items {
		pool := &pools.Items[i]
		add("pool %s annotations %d going %v finalizers %v", pool.Name, len(pool.Annotations), pool.DeletionTimestamp != nil, pool.Finalizers)
	}
	if w.proxy != nil {
		var names []string
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		// A busy machine has Designate time out once in a while.
		err := running.Await(ctx, func() (err error) {
			names, err = w.inDesignate(ctx)
			return err
		})
		if err != nil {
			return "", err
		}
		add("Designate has %v", names)
	}
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, "\n"), w.named(""), "-"), nil
}

func detail(object client.Object) string {
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		return fmt.Sprintf(" replicas %d", ptr.Deref(o.Spec.Replicas, 1))
	case *corev1.Service:
		return fmt.Sprintf(" open %v key %s", builders.ServiceIsOpen(o), o.Annotations[v1alpha1.AnnotationRNDCKey])
	case *corev1.Secret:
		keys := make([]string, 0, len(o.Data))
		for key := range o.Data {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		return fmt.Sprintf(" keys %v", keys)
	default:
		return ""
	}
}

// poolsYAML is what pools.yaml says; nothing before there is one.
func (w *world) poolsYAML(ctx context.Context) ([]conversion.PoolEntry, error) {
	configMap := &corev1.ConfigMap{}
	err := kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.PoolsYAMLName}, configMap)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return conversion.ParsePoolsYAML([]byte(configMap.Data[v1alpha1.PoolsYAMLKey]))
}

// inDesignate are the names of this world's pools there.
func (w *world) inDesignate(ctx context.Context) ([]string, error) {
	var list struct {
		Pools []struct {
			Name string `json:"name"`
		} `json:"pools"`
	}
	if err := stack.NoAuth("any").AllProjects().Call(ctx, http.MethodGet, "/v2/pools?limit=1000", nil, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, pool := range list.Pools {
		if strings.HasSuffix(pool.Name, w.named("")) {
			names = append(names, pool.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
