// Package bridge turns the ConfigMap designate-multipool-config, or without it the default pool of the
// DesignateBackend, into DesignatePools.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	poolac "github.com/designate-pools/designate-pool-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// FieldOwner owns what the bridge applies.
const FieldOwner client.FieldOwner = "designate-pool-operator-bridge"

// Reconciler keeps the DesignatePools of a namespace as their source describes them. A request names the namespace's
// DesignateBackend, whether that exists or not.
type Reconciler struct {
	Client    client.Client
	APIReader client.Reader
	Recorder  events.EventRecorder
	Clock     clock.PassiveClock

	statuses apply.Statuses
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends/status,verbs=get;patch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatepools,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes one pass over a namespace.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	configMap, err := r.configMap(ctx, request.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	backend := &v1alpha1.DesignateBackend{}
	if err := r.Client.Get(ctx, request.NamespacedName, backend); apierrors.IsNotFound(err) {
		r.statuses.Forget(request.NamespacedName)
		r.reportMissingBackend(configMap)
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("read DesignateBackend: %w", err)
	}
	f, err := r.gather(ctx, backend, configMap)
	if err != nil {
		return ctrl.Result{}, err
	}
	next := makePlan(f)
	err = r.carryOut(ctx, request.Namespace, next)
	return apply.Outcome(err, r.report(ctx, backend, configMap, next.conditions, err))
}

func (r *Reconciler) configMap(ctx context.Context, namespace string) (*corev1.ConfigMap, error) {
	configMap := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: namespace, Name: v1alpha1.MultipoolConfigMapName}
	if err := r.Client.Get(ctx, key, configMap); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", key.Name, err)
	}
	return configMap, nil
}

func (r *Reconciler) gather(
	ctx context.Context, backend *v1alpha1.DesignateBackend, configMap *corev1.ConfigMap,
) (facts, error) {
	f := facts{backend: backend, present: configMap != nil}
	if configMap != nil {
		f.config, f.configErr = conversion.ParseConfigMap(configMap)
	}
	// A ledger that is lost has no mode, and without one nothing is done until the aggregator has written it anew.
	stored, err := ledger.Read(ctx, r.Client, backend.Namespace)
	if err != nil && !errors.Is(err, ledger.ErrLost) {
		return facts{}, err
	}
	f.ledger = stored.Ledger
	var pools v1alpha1.DesignatePoolList
	if err := r.Client.List(ctx, &pools, client.InNamespace(backend.Namespace)); err != nil {
		return facts{}, fmt.Errorf("list DesignatePools: %w", err)
	}
	f.pools = pools.Items
	return f, nil
}

// carryOut goes on past a pool that fails, so that its siblings do not wait for it. Pools are made in their order, which
// is the order in which they are given indexes.
func (r *Reconciler) carryOut(ctx context.Context, namespace string, p plan) error {
	var failures []error
	for _, pool := range p.apply {
		failures = append(failures, r.apply(ctx, namespace, pool))
	}
	for _, pool := range p.remove {
		failures = append(failures, r.requestRemoval(ctx, pool))
	}
	return errors.Join(failures...)
}

func (r *Reconciler) apply(ctx context.Context, namespace string, pool wantedPool) error {
	object := r.object()
	wrote, err := apply.Ensure(ctx, r.writer(), object, desiredPool(namespace, pool), func(existing client.Object) error {
		if existing.GetLabels()[v1alpha1.LabelSource] != v1alpha1.SourceBridge {
			return &apply.NameTakenError{Kind: "DesignatePool", Name: existing.GetName(), Holder: "somebody who made it by hand"}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pool %q: %w", pool.name, err)
	}
	if wrote {
		log.FromContext(ctx).Info("Applied pool", "pool", pool.name, "new", object.Live.Name == "")
		return nil
	}
	return r.dropAdditions(ctx, object.Live, pool)
}

// dropAdditions takes away what somebody added to a pool beside what the bridge applied: its source is all that counts.
// While nobody asks for the pool's removal, that goes for a mark of removal, and for a force that is left from an earlier
// one and would count at the next.
func (r *Reconciler) dropAdditions(ctx context.Context, live *v1alpha1.DesignatePool, pool wantedPool) error {
	wanted := v1alpha1.DesignatePoolSpec{
		PoolName:     live.Spec.PoolName,
		PoolSettings: conversion.NormalizeSettings(pool.settings),
	}
	base := live.DeepCopy()
	live.Spec = wanted
	if live.DeletionTimestamp == nil {
		delete(live.Annotations, v1alpha1.AnnotationRemovalRequested)
		delete(live.Annotations, v1alpha1.AnnotationForceRemoval)
	}
	if equality.Semantic.DeepEqual(base, live) {
		return nil
	}
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, live, patch, FieldOwner); err != nil {
		return fmt.Errorf("undo additions to DesignatePool %s: %w", live.Name, err)
	}
	log.FromContext(ctx).Info("Undid additions to pool", "pool", pool.name)
	return nil
}

// desiredPool is the whole of what the bridge owns of a DesignatePool. A removal that was asked for is taken back by
// being absent from it.
func desiredPool(namespace string, pool wantedPool) *poolac.DesignatePoolApplyConfiguration {
	settings := conversion.NormalizeSettings(pool.settings)
	spec := poolac.DesignatePoolSpec().
		WithBINDReplicas(settings.BINDReplicas).
		WithAttributes(settings.Attributes)
	if settings.Description != "" {
		spec.WithDescription(settings.Description)
	}
	for _, record := range settings.NSRecords {
		spec.WithNSRecords(poolac.NSRecord().WithHostname(record.Hostname).WithPriority(record.Priority))
	}
	object := conversion.ObjectName(pool.name)
	if object != pool.name {
		spec.WithPoolName(pool.name)
	}
	return poolac.DesignatePool(object, namespace).
		WithLabels(map[string]string{v1alpha1.LabelSource: v1alpha1.SourceBridge}).
		WithSpec(spec)
}

// requestRemoval marks a pool, and says when it did so first. What the bridge owns of it stays as it is.
func (r *Reconciler) requestRemoval(ctx context.Context, pool *v1alpha1.DesignatePool) error {
	if _, requested := pool.Annotations[v1alpha1.AnnotationRemovalRequested]; requested {
		return nil
	}
	desired, err := poolac.ExtractDesignatePool(pool, string(FieldOwner))
	if err != nil {
		return fmt.Errorf("what the bridge applied to DesignatePool %s: %w", pool.Name, err)
	}
	// The resource version, so that a spec which the cache does not have yet is not put back.
	desired.WithResourceVersion(pool.ResourceVersion).WithAnnotations(map[string]string{
		v1alpha1.AnnotationRemovalRequested: r.Clock.Now().UTC().Format(time.RFC3339),
	})
	if err := r.Client.Apply(ctx, desired, FieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("mark DesignatePool %s for removal: %w", pool.Name, err)
	}
	log.FromContext(ctx).Info("Requested removal of pool", "pool", pool.PoolName())
	return nil
}

func (r *Reconciler) object() apply.Object[*v1alpha1.DesignatePool, *poolac.DesignatePoolApplyConfiguration] {
	return apply.Object[*v1alpha1.DesignatePool, *poolac.DesignatePoolApplyConfiguration]{
		Live: &v1alpha1.DesignatePool{}, Extract: poolac.ExtractDesignatePool, WhileDeleted: true,
	}
}

func (r *Reconciler) writer() apply.Writer {
	return apply.Writer{Client: r.Client, Live: r.APIReader, Owner: FieldOwner}
}

// report writes the bridge's conditions, and an Event on the ConfigMap whenever what is wrong with it changes.
func (r *Reconciler) report(
	ctx context.Context, backend *v1alpha1.DesignateBackend, configMap *corev1.ConfigMap,
	conditions []metav1.Condition, failure error,
) error {
	if failure != nil {
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: v1alpha1.ConditionPoolsApplied, Status: metav1.ConditionFalse,
			Reason: v1alpha1.ReasonWriteFailed, Message: failure.Error(),
		})
	}
	before := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionMultipoolConfigValid).DeepCopy()
	err := r.statuses.Write(ctx, r.Client, backend, func() {
		apply.Conditions(&backend.Status.Conditions, backend.Generation, ownedConditions, conditions)
	})
	if err != nil {
		return err
	}
	after := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionMultipoolConfigValid)
	if after != nil && after.Status == metav1.ConditionFalse && (before == nil || before.Message != after.Message) {
		r.Recorder.Eventf(configMap, backend, corev1.EventTypeWarning, v1alpha1.ReasonInvalidConfig, "Validate",
			"%s", apply.Bounded(after.Message, maxEventNote))
	}
	return nil
}

func (r *Reconciler) reportMissingBackend(configMap *corev1.ConfigMap) {
	if configMap == nil {
		return
	}
	r.Recorder.Eventf(configMap, nil, corev1.EventTypeWarning, v1alpha1.ReasonBackendMissing, "Validate",
		"The namespace has no DesignateBackend named %s, so nothing is made of this ConfigMap. Create one.", v1alpha1.BackendName)
}

// maxEventNote is what an Event takes, in bytes (events.k8s.io/v1: note).
const maxEventNote = 1024
