package killpoints

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// neighbour is the pool of each scenario to which nothing may happen but what the scenario does to it.
const neighbour = "edge"

// watched is the pool that has to be served at any moment: the neighbour, or where there is none the only pool.
func (w *world) watched() string {
	if w.single {
		return v1alpha1.DefaultPoolName
	}
	return w.named(neighbour)
}

// watch looks for states that are forbidden at any moment until ctx ends, and returns what it saw.
func (w *world) watch(ctx context.Context) (violations func() []string) {
	var (
		group sync.WaitGroup
		mutex sync.Mutex
		seen  []string
	)
	group.Go(func() {
		for looks := 0; ctx.Err() == nil; looks++ {
			for _, violation := range w.forbidden(ctx, looks%10 == 0) {
				mutex.Lock()
				if !slices.Contains(seen, violation) {
					seen = append(seen, violation)
				}
				mutex.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() []string {
		group.Wait()
		return seen
	}
}

// forbidden are the states that there must never be. What cannot be read is looked at again.
func (w *world) forbidden(ctx context.Context, designate bool) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	configMap := &corev1.ConfigMap{}
	if kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.PoolsYAMLName}, configMap) == nil {
		entries, err := conversion.ParsePoolsYAML([]byte(configMap.Data[v1alpha1.PoolsYAMLKey]))
		if err != nil {
			add("pools.yaml cannot be parsed")
		} else if !slices.ContainsFunc(entries, func(e conversion.PoolEntry) bool { return e.Name == w.watched() }) {
			add("pools.yaml lacks %s", w.watched())
		}
	}
	services := &corev1.ServiceList{}
	if kube.List(ctx, services, client.InNamespace(w.namespace), client.HasLabels{v1alpha1.LabelPoolUID}) == nil {
		found = append(found, sharedKeys(services.Items)...)
		if w.proxy == nil && !slices.ContainsFunc(services.Items, func(s corev1.Service) bool {
			return s.Labels[v1alpha1.LabelPool] == w.watched() && s.Labels[v1alpha1.LabelServiceRole] == v1alpha1.ServiceRoleClient &&
				builders.ServiceIsOpen(&s)
		}) {
			add("no server of %s is open to clients", w.watched())
		}
		if w.single {
			found = append(found, closedClients(services.Items)...)
		}
	}
	sets := &appsv1.StatefulSetList{}
	if kube.List(ctx, sets, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelPool: w.watched()}) == nil &&
		!slices.ContainsFunc(sets.Items, func(s appsv1.StatefulSet) bool { return ptr.Deref(s.Spec.Replicas, 1) > 0 }) {
		add("%s has no servers", w.watched())
	}
	found = append(found, w.staleJobs(ctx)...)
	if designate && w.proxy != nil {
		if names, err := w.inDesignate(ctx); err == nil && !slices.Contains(names, w.named(neighbour)) {
			add("Designate lacks the neighbour")
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return found
}

// closedClients are the client Services of the default pool that lead nowhere.
func closedClients(services []corev1.Service) []string {
	var found []string
	for i := range services {
		service := &services[i]
		if service.Labels[v1alpha1.LabelPool] == v1alpha1.DefaultPoolName &&
			service.Labels[v1alpha1.LabelServiceRole] == v1alpha1.ServiceRoleClient && !builders.ServiceIsOpen(service) {
			found = append(found, "the client Service "+service.Name+" leads nowhere")
		}
	}
	return found
}

// sharedKeys are RNDC key numbers that two servers have.
func sharedKeys(services []corev1.Service) []string {
	var found []string
	holders := map[string]string{}
	for i := range services {
		service := &services[i]
		key := service.Annotations[v1alpha1.AnnotationRNDCKey]
		if service.Labels[v1alpha1.LabelServiceRole] != v1alpha1.ServiceRoleControl || key == "" || service.DeletionTimestamp != nil {
			continue
		}
		holder := service.Labels[v1alpha1.LabelPool] + "/" + service.Labels[v1alpha1.LabelOrdinal]
		if other, taken := holders[key]; taken && other != holder {
			found = append(found, fmt.Sprintf("RNDC key %s belongs to two servers", key))
		}
		holders[key] = holder
	}
	return found
}

// staleJobs are those that go on with a pool past the point of no return in their input.
func (w *world) staleJobs(ctx context.Context) []string {
	stored, err := w.ledger(ctx)
	if err != nil {
		return nil
	}
	removing := map[string]bool{}
	for i := range stored.Pools {
		if stored.Pools[i].Removing() {
			removing[stored.Pools[i].Name] = true
		}
	}
	jobs := &batchv1.JobList{}
	if len(removing) == 0 || kube.List(ctx, jobs, client.InNamespace(w.namespace)) != nil {
		return nil
	}
	var found []string
	for i := range jobs.Items {
		if len(jobs.Items[i].Status.Conditions) > 0 {
			continue
		}
		input := &corev1.ConfigMap{}
		if kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: jobs.Items[i].Name}, input) != nil {
			continue
		}
		entries, _ := conversion.ParsePoolsYAML([]byte(input.Data["pools.yaml"]))
		for j := range entries {
			if removing[entries[j].Name] {
				found = append(found, "a Job goes on with a pool that is being removed")
			}
		}
	}
	return found
}
