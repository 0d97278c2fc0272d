package zones

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Intent is somebody's wish that a pool be removed. One that is taken back and comes again is another one.
type Intent struct {
	// Pool is the UID of the DesignatePool.
	Pool types.UID
	// requested, deleted and backendDeleted are when the wish was written, as the API server has it, for each way of
	// wishing. They are only compared for being the same.
	requested, deleted, backendDeleted string
}

// IntentOf is the wish that a pool be removed, if there is one. backend is nil when the namespace has none.
func IntentOf(pool *v1alpha1.DesignatePool, backend *v1alpha1.DesignateBackend) (Intent, bool) {
	intent := Intent{Pool: pool.UID}
	at, wanted := pool.Annotations[v1alpha1.AnnotationRemovalRequested]
	intent.requested = at
	if pool.DeletionTimestamp != nil {
		intent.deleted, wanted = pool.DeletionTimestamp.String(), true
	}
	if backend != nil && backend.DeletionTimestamp != nil {
		intent.backendDeleted, wanted = backend.DeletionTimestamp.String(), true
	}
	return intent, wanted
}
