// Package primaries asks Designate's mdns servers, from which the pools' servers transfer zones, whether they answer. It asks from where
// the operator is: what it sees is a warning and keeps nothing from being done.
package primaries

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

const (
	// interval is the time between two looks at primaries that answer, and soon at those of which one does not.
	interval = time.Minute
	soon     = 15 * time.Second
	// afterConflict is how soon to try again when somebody else has written the status meanwhile.
	afterConflict = time.Second
)

// Watcher is one controller; a request names a DesignateBackend.
type Watcher struct {
	Client client.Client
	Ask    AskFunc

	statuses apply.Statuses
}

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch
// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends/status,verbs=patch

// SetupWithManager starts the watcher with a manager.
func (w *Watcher) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("primaries").
		WithOptions(options).
		For(&v1alpha1.DesignateBackend{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(w)
}

// Reconcile asks all primaries at once and writes the condition PrimariesReachable.
func (w *Watcher) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	asked := &v1alpha1.DesignateBackend{}
	if err := w.Client.Get(ctx, request.NamespacedName, asked); err != nil {
		w.statuses.Forget(request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	condition := conditionOf(w.askAll(ctx, asked.Spec.Primaries))
	if err := ctx.Err(); err != nil {
		return ctrl.Result{}, err // It was the operator that broke off.
	}
	// Asking takes its time.
	backend := &v1alpha1.DesignateBackend{}
	if err := w.Client.Get(ctx, request.NamespacedName, backend); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if backend.UID != asked.UID || backend.Generation != asked.Generation {
		return ctrl.Result{}, nil // An event has told of that.
	}
	err := w.statuses.Write(ctx, w.Client, backend, func() {
		apply.Conditions(&backend.Status.Conditions, backend.Generation, nil, []metav1.Condition{condition})
	})
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	case err != nil:
		return ctrl.Result{}, client.IgnoreNotFound(err)
	case condition.Status == metav1.ConditionTrue:
		return ctrl.Result{RequeueAfter: interval}, nil
	default:
		return ctrl.Result{RequeueAfter: soon}, nil
	}
}

// silent is a primary that does not answer.
type silent struct {
	address string
	err     error
}

// askAll returns those that do not answer, in the order of the spec.
func (w *Watcher) askAll(ctx context.Context, all []v1alpha1.Primary) []silent {
	answers := make([]silent, len(all))
	var group sync.WaitGroup
	for i, primary := range all {
		answers[i].address = net.JoinHostPort(primary.Address, strconv.Itoa(int(primary.Port)))
		group.Go(func() { answers[i].err = w.Ask(ctx, answers[i].address) })
	}
	group.Wait()
	var without []silent
	for _, answer := range answers {
		if answer.err != nil {
			without = append(without, answer)
		}
	}
	return without
}

func conditionOf(without []silent) metav1.Condition {
	if len(without) == 0 {
		return metav1.Condition{
			Type: v1alpha1.ConditionPrimariesReachable, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPrimariesAnswer,
			Message: "Every one of spec.primaries answers DNS over UDP and TCP.",
		}
	}
	var parts []string
	for _, primary := range without {
		parts = append(parts, fmt.Sprintf("%s (%s)", primary.address, strings.ReplaceAll(primary.err.Error(), "\n", "; ")))
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionPrimariesReachable, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPrimariesSilent,
		Message: fmt.Sprintf("Of spec.primaries, the operator gets no answer from: %s. Servers transfer zones from there. "+
			"Correct spec.primaries, start Designate's mdns, or let DNS through to it. If only the operator is kept from asking, ignore this.",
			strings.Join(parts, ", ")),
	}
}
