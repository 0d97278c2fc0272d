package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/controllers/teardown"
)

// gatherVanished finds the entries whose DesignatePool the API server says does not exist. Those of which nothing else is left
// either may be forgotten; what is left of the others goes through the gate as if somebody had asked for it.
func (r *Reconciler) gatherVanished(ctx context.Context, s *scope) error {
	for i := range s.stored.Pools {
		entry := &s.stored.Pools[i]
		if slices.ContainsFunc(s.pools, func(p v1alpha1.DesignatePool) bool { return p.UID == entry.UID }) {
			continue
		}
		pool := &v1alpha1.DesignatePool{}
		err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: entry.Object}, pool)
		if client.IgnoreNotFound(err) != nil {
			return wrap(err, "read DesignatePool "+entry.Object)
		}
		if !apierrors.IsNotFound(err) && pool.UID == entry.UID {
			continue // The cache is behind.
		}
		left, err := owned.Any(ctx, r.APIReader, s.namespace, entry.UID)
		if err != nil {
			return err
		}
		if left == nil {
			s.gone = append(s.gone, entry.UID)
		} else {
			s.vanished = append(s.vanished, entry.UID)
		}
	}
	return nil
}

// noteVanished remembers since when a DesignatePool has been gone: a listing that began before says nothing of a pool that was in
// use then.
func (s *scope) noteVanished(planned *ledger.Ledger) {
	for i := range planned.Pools {
		entry := &planned.Pools[i]
		switch {
		case !slices.Contains(s.vanished, entry.UID):
			entry.Vanished = nil
		case entry.Vanished == nil:
			entry.Vanished = ledger.At(s.now)
		}
		if entry.Vanished != nil && s.hasAccess() && !entry.Removing() {
			s.awaitListing(entry.Vanished.Time)
		}
	}
}

// tearDownVanished takes down the servers of pools that may go and have no DesignatePool that would have it done.
func (r *Reconciler) tearDownVanished(ctx context.Context, s *scope) error {
	var failures []error
	for i := range s.stored.Pools {
		entry := &s.stored.Pools[i]
		if entry.Removal != ledger.Withdrawn || !slices.Contains(s.vanished, entry.UID) {
			continue
		}
		if s.hasAccess() && entry.Name != v1alpha1.DefaultPoolName && r.TSIGKeys.View(s.namespace).Left(entry.UID) != "" {
			s.lookAgainAfter(serversLook)
			continue
		}
		of := teardown.Teardown{Client: r.Client, Live: r.APIReader, Namespace: s.namespace, UID: entry.UID}
		remaining, err := of.Step(ctx)
		failures = append(failures, err)
		if err == nil && remaining == "" {
			log.FromContext(ctx).Info("What a vanished DesignatePool had left is gone", "pool", entry.Name)
		}
		// What is left goes with events; the last of them may be that of a kind that nobody watches.
		s.lookAgainAfter(serversLook)
	}
	return errors.Join(failures...)
}

// vanishedPools names the pools whose DesignatePool is gone while their servers are not: somebody took the finalizer off.
func (s *scope) vanishedPools() (reason, message string) {
	var names []string
	for _, entry := range s.stored.Pools {
		if !slices.ContainsFunc(s.pools, func(p v1alpha1.DesignatePool) bool { return p.UID == entry.UID }) {
			names = append(names, fmt.Sprintf("%q (label %s=%s)%s", entry.Name, v1alpha1.LabelPoolUID, entry.UID, s.whyItStays(entry.UID)))
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	return v1alpha1.ReasonPoolVanished, "The DesignatePools of these pools are gone and their servers are not: " + strings.Join(names, "; ") +
		". They serve on, and are removed as any pool is."
}

// whyItStays is what blocks the removal of what a vanished DesignatePool has left.
func (s *scope) whyItStays(uid types.UID) string {
	if verdict := s.removals[uid]; verdict.Blocked() {
		return ", " + strings.TrimSuffix(verdict.Message, ".")
	}
	return ""
}
