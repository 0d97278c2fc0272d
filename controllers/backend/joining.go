package backend

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mayJoin says that a server that is ready can be shown to clients. Without access to Designate, being ready is all that is
// known of it, unless it takes over from a former server: then it has to answer for as much. With access it has been seen to answer for
// every zone of its pool; where the operator applies pools.yaml, that was after workers that know the server had put the zones there, so
// that none is made meanwhile that it does not get.
func (s *scope) mayJoin(uid types.UID, ordinal int32, pod *corev1.Pod) bool {
	entry := s.stored.Pool(uid)
	switch {
	case entry != nil && s.facts.Mode != s.stored.Mode:
		return false // What the ledger says of the servers of the default pool is about those of the other mode.
	case !s.hasAccess():
		return entry == nil || entry.Former == nil || s.servesAll(uid, ordinal, pod.UID, time.Time{})
	}
	var since time.Time
	if s.applies() {
		if entry == nil || !entry.KnownToWorkers() {
			return false
		}
		server := entry.Server(ordinal)
		if server == nil || server.FilledAt == nil {
			return false
		}
		since = server.FilledAt.Time
		s.awaitListing(since)
	}
	return s.servesAll(uid, ordinal, pod.UID, since)
}
