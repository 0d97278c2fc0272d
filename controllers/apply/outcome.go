package apply

import (
	"cmp"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictDelay is how soon a pass is made again that met another writer: by then the cache has that one's write.
const conflictDelay = 100 * time.Millisecond

// Outcome is what a reconcile returns for what its parts did. Another writer having been faster is no failure: the pass
// is made again, without the noise of an error. A name that is taken is a matter for a person, which the status shows: it
// is looked at again after a while. Everything else is a failure.
func Outcome(failures ...error) (reconcile.Result, error) {
	var result reconcile.Result
	var remaining []error
	for _, failure := range failures {
		switch {
		case failure == nil:
		case all(failure, apierrors.IsConflict):
			result.RequeueAfter = conflictDelay
		case all(failure, IsNameTaken):
			result.RequeueAfter = cmp.Or(result.RequeueAfter, TakenDelay)
		default:
			remaining = append(remaining, failure)
		}
	}
	if err := errors.Join(remaining...); err != nil {
		return reconcile.Result{}, err
	}
	return result, nil
}

// all says whether an error, or every one of those joined in it, is of a kind.
func all(err error, kind func(error) bool) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return kind(err)
	}
	for _, part := range joined.Unwrap() {
		if !all(part, kind) {
			return false
		}
	}
	return true
}
