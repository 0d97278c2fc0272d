package apply

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictDelay is how soon a pass is made again that met another writer: by then the cache has that one's write.
const conflictDelay = 100 * time.Millisecond

// Outcome is what a reconcile returns for what its parts did. Another writer having been faster is no failure: the pass
// is made again, without the noise of an error. Everything else is.
func Outcome(failures ...error) (reconcile.Result, error) {
	var result reconcile.Result
	var remaining []error
	for _, failure := range failures {
		switch {
		case failure == nil:
		case onlyConflicts(failure):
			result.RequeueAfter = conflictDelay
		default:
			remaining = append(remaining, failure)
		}
	}
	if err := errors.Join(remaining...); err != nil {
		return reconcile.Result{}, err
	}
	return result, nil
}

// onlyConflicts says whether an error, or every one of those joined in it, is a conflict.
func onlyConflicts(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return apierrors.IsConflict(err)
	}
	for _, part := range joined.Unwrap() {
		if !onlyConflicts(part) {
			return false
		}
	}
	return true
}
