package pool

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// emptyServers has the servers that are to be rebuilt lose their claims, once clients are not led to them any more. The StatefulSet
// controller makes both pod and claim anew.
func (r *Reconciler) emptyServers(ctx context.Context, s *scope) (bool, error) {
	var failures []error
	for _, server := range s.entry.Servers {
		if server.Rebuilding != "" {
			failures = append(failures, r.emptyServer(ctx, s, server))
		}
	}
	return false, errors.Join(failures...)
}

func (r *Reconciler) emptyServer(ctx context.Context, s *scope, server ledger.Server) error {
	service := &corev1.Service{}
	name := builders.ClientServiceName(s.entry.Index, server.Ordinal)
	if err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: name}, service); err != nil {
		return fmt.Errorf("read Service %s: %w", name, err)
	}
	if builders.ServiceIsOpen(service) {
		return nil // Its closing is an event.
	}
	pod := &corev1.Pod{}
	name = builders.PodName(s.statefulSetName(), server.Ordinal)
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: name}, pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Pod %s: %w", name, err)
	}
	claim := &corev1.PersistentVolumeClaim{}
	name = builders.ClaimName(name)
	err = r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.pool.Namespace, Name: name}, claim)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
	}
	if claim.UID != server.Rebuilding || claim.Labels[v1alpha1.LabelPoolUID] != string(s.pool.UID) {
		return nil // It is gone already.
	}
	// A claim stays as long as a pod uses it.
	if err := apply.Delete(ctx, r.Client, claim); err != nil {
		return err
	}
	if pod.Labels[v1alpha1.LabelPoolUID] != string(s.pool.UID) {
		return nil
	}
	return apply.Delete(ctx, r.Client, pod)
}
