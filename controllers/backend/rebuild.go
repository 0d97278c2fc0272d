package backend

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// planRebuilds notes in a ledger which servers people want to be emptied and filled anew, as far as nothing is in the way.
func (s *scope) planRebuilds(planned *ledger.Ledger) {
	for i := range s.pools {
		pool := &s.pools[i]
		value, asked := pool.Annotations[v1alpha1.AnnotationRebuildServer]
		entry := planned.Pool(pool.UID)
		if !asked || entry == nil {
			continue
		}
		ordinal, problem := s.rebuildable(entry, value)
		if problem != "" {
			s.refusedRebuilds = append(s.refusedRebuilds, refusedRebuild{pool, problem})
			continue
		}
		if entry.Server(ordinal).Rebuilding == "" {
			pod := builders.PodName(builders.StatefulSetName(planned.Mode, entry.Index), ordinal)
			entry.Rebuild(ordinal, s.claimOf(pool.UID, pod))
		}
		s.begunRebuilds = append(s.begunRebuilds, pool)
	}
}

// refusedRebuild is why a server of a pool is not rebuilt.
type refusedRebuild struct {
	pool    *v1alpha1.DesignatePool
	problem string
}

// rebuildable is the server that an annotation names, or what is in the way of emptying it now.
func (s *scope) rebuildable(entry *ledger.Pool, value string) (ordinal int32, problem string) {
	number, err := strconv.ParseInt(value, 10, 32)
	ordinal = int32(number)
	server := entry.Server(ordinal)
	if err != nil || server == nil || ordinal >= entry.Accepted.BINDReplicas {
		return 0, fmt.Sprintf("%q is not the ordinal of one of its %d servers", value, entry.Accepted.BINDReplicas)
	}
	if server.Rebuilding != "" {
		return ordinal, ""
	}
	return ordinal, s.rebuildObstacle(entry, ordinal)
}

// rebuildObstacle is what is in the way of emptying a server. No client must be left without an answer: all others answer, and there
// is somebody who fills it again.
func (s *scope) rebuildObstacle(entry *ledger.Pool, ordinal int32) string {
	facts, _ := s.facts.Pool(entry.UID)
	switch {
	case entry.Removing():
		return "the pool is being removed"
	case entry.Former != nil:
		return "the pool moves to another mode"
	case !s.applies() || !s.hasAccess():
		return "it would stay empty: that needs `apply: Job`, and access to Designate to see when it is full"
	case entry.Accepted.BINDReplicas < 2:
		return "it is the only one: scale the pool to 2 first"
	case facts.Servers[ordinal].Claim == "":
		return "it has no claim yet"
	}
	for other := range entry.Accepted.BINDReplicas {
		server := entry.Server(other)
		if other != ordinal && (server == nil || !server.Joined || !facts.Servers[other].Ready) {
			return fmt.Sprintf("server %d does not serve clients now, and only one server at a time may do so", other)
		}
	}
	return ""
}

// announceRebuilds says what became of the wishes, and takes off the annotations of those that the ledger has.
func (r *Reconciler) announceRebuilds(ctx context.Context, s *scope, before *ledger.Ledger) error {
	for _, refused := range s.refusedRebuilds {
		r.warnOnce(s, refused)
	}
	for _, pool := range s.begunRebuilds {
		base := pool.DeepCopy()
		value := pool.Annotations[v1alpha1.AnnotationRebuildServer]
		delete(pool.Annotations, v1alpha1.AnnotationRebuildServer)
		patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, pool, patch, FieldOwner); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("take the annotation %s off DesignatePool %s: %w", v1alpha1.AnnotationRebuildServer, pool.Name, err)
		}
		log.FromContext(ctx).Info("Rebuilding a server", "pool", pool.PoolName(), "server", value)
		r.Recorder.Eventf(pool, s.relatedBackend(), corev1.EventTypeNormal, v1alpha1.EventRebuildingServer, "Rebuild",
			"Server %s is emptied and filled anew; clients are led to the others meanwhile.", value)
	}
	for i := range s.pools {
		entry, old := s.stored.Pool(s.pools[i].UID), before.Pool(s.pools[i].UID)
		if entry == nil || old == nil {
			continue
		}
		for _, server := range old.Servers {
			if now := entry.Server(server.Ordinal); server.Rebuilding != "" && now != nil && now.Joined {
				r.Recorder.Eventf(&s.pools[i], s.relatedBackend(), corev1.EventTypeNormal, v1alpha1.EventServerRebuilt, "Rebuild",
					"Server %d has been filled anew, and clients are led to it again.", server.Ordinal)
			}
		}
	}
	return nil
}

// warnOnce tells of a refusal, unless that was the last thing told of the pool.
func (r *Reconciler) warnOnce(s *scope, refused refusedRebuild) {
	state := refused.pool.Annotations[v1alpha1.AnnotationRebuildServer] + ": " + refused.problem
	if !r.refusals.News(refused.pool.UID, state) {
		return
	}
	r.Recorder.Eventf(refused.pool, s.relatedBackend(), corev1.EventTypeWarning, v1alpha1.EventRebuildRefused, "Rebuild",
		"Server %s is not rebuilt now: %s.", refused.pool.Annotations[v1alpha1.AnnotationRebuildServer], refused.problem)
}
