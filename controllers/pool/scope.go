package pool

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/rndckeys"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// scope is what one pass over one pool knows. gather fills it; phases add what they found out, for the status.
type scope struct {
	reconciler *Reconciler
	pool       *v1alpha1.DesignatePool
	// backend is nil when the namespace has none.
	backend *v1alpha1.DesignateBackend
	// backendErr says what is wrong with the backend's spec. Nothing is changed while something is.
	backendErr error
	ledger     *ledger.Ledger
	// ledgerLost says that the ledger has to be written anew before anything is known of any pool.
	ledgerLost bool
	// entry is the pool's own in the ledger; nil before it has one.
	entry   *ledger.Pool
	verdict acceptance.Verdict
	removal removal.Verdict

	// statefulSet is nil when there is none of the pool's.
	statefulSet *appsv1.StatefulSet
	// services and pods of the pool by name, as the cache has them.
	services map[string]*corev1.Service
	pods     map[string]*corev1.Pod
	// keys are the RNDC keys of all servers, keyCopies those that the pool's own Secret has, by name.
	keys, keyCopies map[string][]byte

	// zones is what is known of Designate's zones at the time of the pass; nothing without access.
	zones zones.View
	now   time.Time
	// tsig is what is known of the TSIG keys that Designate has; nothing without access.
	tsig tsigkeys.View
	// serving is what is known of the zones that the servers have; nothing without access, unless they take over from others.
	serving servers

	// problem is the first thing that keeps children from being as they should be.
	problem *problem
	// lookAgain is when to make another pass without an event; never when 0.
	lookAgain time.Duration
	// remaining says what is left of a pool that is being torn down.
	remaining string
}

// problem is the reason and message of a condition.
type problem struct{ reason, message string }

// lookAgainAfter asks for another pass without an event.
func (s *scope) lookAgainAfter(delay time.Duration) {
	if delay > 0 && (s.lookAgain == 0 || delay < s.lookAgain) {
		s.lookAgain = delay
	}
}

func (s *scope) blame(reason, message string) {
	if s.problem == nil {
		s.problem = &problem{reason, message}
	}
}

// statefulSetName is the name in the mode that is in force.
func (s *scope) statefulSetName() string {
	return builders.StatefulSetName(s.ledger.Mode, s.entry.Index)
}

// formerName is the name in the mode that was in force before; empty once the pool has nothing left there.
func (s *scope) formerName() string {
	if s.entry.Former == nil {
		return ""
	}
	return builders.StatefulSetName(s.entry.Former.Mode, s.entry.Index)
}

// gatherChildren reads the pool's children from the cache.
func (r *Reconciler) gatherChildren(ctx context.Context, s *scope) error {
	if s.entry == nil {
		return nil
	}
	statefulSet := &appsv1.StatefulSet{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: s.statefulSetName()}, statefulSet)
	switch {
	case err == nil && statefulSet.Labels[v1alpha1.LabelPoolUID] == string(s.pool.UID):
		s.statefulSet = statefulSet
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read StatefulSet: %w", err)
	}
	var services corev1.ServiceList
	if err := r.Client.List(ctx, &services, s.ownObjects()...); err != nil {
		return fmt.Errorf("list Services: %w", err)
	}
	s.services = byName(services.Items, func(o *corev1.Service) string { return o.Name })
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, s.ownObjects()...); err != nil {
		return fmt.Errorf("list Pods: %w", err)
	}
	s.pods = byName(pods.Items, func(o *corev1.Pod) string { return o.Name })
	s.keys, err = rndckeys.Read(ctx, r.Client, s.pool.Namespace)
	if err != nil {
		return err
	}
	s.keyCopies, err = rndckeys.Copies(ctx, r.Client, s.pool.Namespace, builders.KeySecretName(s.entry.Index), string(s.pool.UID))
	return err
}

// ownObjects choose what bears the pool's UID.
func (s *scope) ownObjects() []client.ListOption { return owned.By(s.pool.Namespace, s.pool.UID) }

// builderPool is what the builders need. Servers without a key are left out: their configuration cannot be made yet.
func (s *scope) builderPool() *builders.Pool {
	pool := &builders.Pool{
		Namespace:   s.pool.Namespace,
		Object:      s.pool.Name,
		UID:         s.pool.UID,
		Name:        s.entry.Name,
		ID:          s.entry.ID,
		Index:       s.entry.Index,
		StatefulSet: s.statefulSetName(),
		Spec:        s.entry.Accepted,
		Template:    s.backend.Spec.BIND,
		Primaries:   s.backend.Spec.Primaries,
	}
	for _, server := range s.entry.Servers {
		pool.Servers = append(pool.Servers, builders.Server{
			StatefulSet: pool.StatefulSet, Ordinal: server.Ordinal, RNDCKey: server.RNDCKey, Open: s.entry.Open(server.Ordinal),
		})
	}
	for _, server := range s.entry.FormerServers() {
		pool.Servers = append(pool.Servers, builders.Server{
			StatefulSet: s.formerName(), Ordinal: server.Ordinal, RNDCKey: server.RNDCKey, Open: s.entry.FormerOpen(server.Ordinal),
		})
	}
	return pool
}

func byName[T any](items []T, name func(*T) string) map[string]*T {
	result := make(map[string]*T, len(items))
	for i := range items {
		result[name(&items[i])] = &items[i]
	}
	return result
}
