package backend

import (
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/jobs"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/poolupdate"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// beginRun records a run, and then makes it. Its number is one that no Job bears, whatever has become of the ledger, and none
// begins beside another.
func (r *Reconciler) beginRun(ctx context.Context, s *scope, next *ledger.Ledger, step poolupdate.Step) error {
	newest, active, err := jobs.Newest(ctx, r.APIReader, s.namespace)
	if err != nil {
		return err
	}
	if active {
		s.programming.progress.Job = "An older Job that applies pools has not ended yet."
		s.lookAgainAfter(runLook)
		return nil
	}
	next.LastRun = max(next.LastRun, newest+1)
	next.Run.Number = next.LastRun
	if _, err := s.stored.Write(ctx, r.Client, s.namespace, next); err != nil {
		return err
	}
	for _, uid := range step.Undone {
		r.announceUndone(s, uid)
	}
	if err := jobs.Collect(ctx, r.Client, r.APIReader, s.namespace, next.LastRun); err != nil {
		return err
	}
	return r.makeRun(ctx, s)
}

// makeRun makes the Job of the run that the ledger has, with its input.
func (r *Reconciler) makeRun(ctx context.Context, s *scope) error {
	run := s.stored.Run
	var entries []conversion.PoolEntry
	for i := range s.programming.facts.Pools {
		uid := s.programming.facts.Pools[i].UID
		if slices.ContainsFunc(run.Pools, func(p ledger.RunPool) bool { return p.UID == uid }) {
			entries = append(entries, s.programming.entries[i])
		}
	}
	text, err := conversion.RenderPoolsYAML(entries)
	if err != nil {
		return err
	}
	input := apply.Object[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration]{
		Live: &corev1.ConfigMap{}, Extract: corev1ac.ExtractConfigMap,
	}
	_, err = apply.Ensure(ctx, r.writer(), input, builders.PoolUpdateInput(s.backend, run.Number, string(text)), apply.OfOperator)
	if err != nil {
		return err
	}
	job := apply.Object[*batchv1.Job, *batchv1ac.JobApplyConfiguration]{Live: &batchv1.Job{}, Extract: batchv1ac.ExtractJob}
	if _, err := apply.Ensure(ctx, r.writer(), job, builders.PoolUpdateJob(s.backend, run.Number), apply.OfOperator); err != nil {
		return err
	}
	log.FromContext(ctx).Info("Applying pools", "run", run.Number, "pools", namesOf(entries))
	s.lookAgainAfter(runLook)
	return nil
}

// followRun looks at the run that goes on. The ledger says afterwards how it ended, if it did.
func (r *Reconciler) followRun(ctx context.Context, s *scope) error {
	run := s.stored.Run
	outcome, err := jobs.Read(ctx, r.APIReader, s.namespace, run.Number)
	if err != nil {
		return err
	}
	switch {
	case !outcome.Exists && s.unchanged(run):
		return r.makeRun(ctx, s)
	case !outcome.Exists:
		_, err := s.stored.Write(ctx, r.Client, s.namespace, poolupdate.Abandoned(&s.stored.Ledger))
		return err
	case !outcome.Finished:
		s.programming.progress.Job = outcome.Waiting
		s.lookAgainAfter(runLook)
		return nil
	}
	log.FromContext(ctx).Info("Pools were applied", "run", run.Number, "succeeded", outcome.Succeeded)
	if !outcome.Succeeded {
		r.Recorder.Eventf(s.backend, nil, corev1.EventTypeWarning, v1alpha1.EventPoolUpdateFailed, "PoolUpdate",
			"Pool update %d failed: %s", run.Number, outcome.Failure)
	}
	end := poolupdate.Outcome{Succeeded: outcome.Succeeded, Failure: outcome.Failure}
	_, err = s.stored.Write(ctx, r.Client, s.namespace, poolupdate.Ended(&s.stored.Ledger, end, s.programming.facts))
	return err
}

// unchanged says that the pools of a run are still to be applied as it has them, so that its Job can be made.
func (s *scope) unchanged(run *ledger.Run) bool {
	for i := range run.Pools {
		pool := s.programming.pool(run.Pools[i].UID)
		if pool == nil || pool.Obstacle != nil || pool.Entry != run.Pools[i].Entry {
			return false
		}
	}
	return true
}

// announceUndone says that the deletion of zones may have been undone.
func (r *Reconciler) announceUndone(s *scope, uid types.UID) {
	entry := s.stored.Pool(uid)
	names := ""
	if listing := s.newestListing(); listing != nil && entry != nil {
		names = strings.Join(listing.In(entry.ID).Names, ", ")
	}
	for i := range s.pools {
		if s.pools[i].UID == uid {
			r.Recorder.Eventf(&s.pools[i], s.relatedBackend(), corev1.EventTypeWarning, v1alpha1.EventDeletionsMayBeUndone, "PoolUpdate",
				"The pool is applied while zones of it are being deleted, which they have been for %s: zones that were deleted may be back. "+
					"Look at those in the pool, such as %s, and delete them again.", poolupdate.HeldFor, names)
		}
	}
}
