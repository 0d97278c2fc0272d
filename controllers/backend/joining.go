package backend

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mayJoin says that a server that is ready can be shown to clients. Without access to Designate, being ready is all that is
// known of it. With access it has been seen to answer for every zone of its pool; where the operator applies pools.yaml, that was
// after workers that know the server had put the zones there, so that none is made meanwhile that it does not get.
func (s *scope) mayJoin(uid types.UID, ordinal int32, pod *corev1.Pod) bool {
	if !s.hasAccess() {
		return true
	}
	var since time.Time
	if s.applies() {
		entry := s.stored.Pool(uid)
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
