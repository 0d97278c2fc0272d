package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Statuses writes the statuses of the objects that one controller works on. The zero value is ready for use.
//
// It remembers its newest write of each object until the cache has it. A controller that is not told of its own status
// writes would otherwise compare with a status from before one, find nothing to write, and never look again.
type Statuses struct {
	mutex   sync.Mutex
	written map[client.ObjectKey]ownWrite
}

type ownWrite struct {
	uid             types.UID
	resourceVersion string
}

// Forget forgets an object that is gone.
func (s *Statuses) Forget(key client.ObjectKey) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.written, key)
}

// Write changes the status of an object and writes it once, if anything differs. The write carries the resource version
// that was read, so that two writers of one status never undo each other. The error is a conflict when another writer
// was faster, or when what was read is older than this controller's own newest write.
func (s *Statuses) Write(ctx context.Context, c client.Client, object client.Object, change func()) error {
	if err := s.checkNewest(object); err != nil {
		return err
	}
	base, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", object)
	}
	change()
	if equality.Semantic.DeepEqual(base, object) {
		return nil
	}
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("status of %T %s: %w", object, object.GetName(), err)
	}
	s.remember(object)
	return nil
}

func (s *Statuses) checkNewest(object client.Object) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := client.ObjectKeyFromObject(object)
	written, pending := s.written[key]
	if !pending || written.uid != object.GetUID() {
		return nil
	}
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), written.resourceVersion)
	if err != nil {
		return fmt.Errorf("age of %T %s: %w", object, object.GetName(), err)
	}
	if order < 0 {
		return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), errors.New("the cache does not have the newest status yet"))
	}
	delete(s.written, key)
	return nil
}

func (s *Statuses) remember(object client.Object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.written == nil {
		s.written = map[client.ObjectKey]ownWrite{}
	}
	s.written[client.ObjectKeyFromObject(object)] = ownWrite{object.GetUID(), object.GetResourceVersion()}
}

// Conditions sets the conditions that a controller owns, all of them: one of owned that is not wanted is removed.
// lastTransitionTime moves only when a status flips.
func Conditions(existing *[]metav1.Condition, generation int64, owned []string, wanted []metav1.Condition) {
	for _, conditionType := range owned {
		if meta.FindStatusCondition(wanted, conditionType) == nil {
			meta.RemoveStatusCondition(existing, conditionType)
		}
	}
	for _, condition := range wanted {
		condition.ObservedGeneration = generation
		condition.Message = Bounded(condition.Message, maxMessage)
		meta.SetStatusCondition(existing, condition)
	}
}

// maxMessage is what the API server takes in a condition's message, in bytes to be safe.
const maxMessage = 32768

// Bounded is as much of a message as fits into a limit in bytes, cut between characters.
func Bounded(message string, limit int) string {
	if len(message) <= limit {
		return message
	}
	const more = " ..."
	return strings.ToValidUTF8(message[:limit-len(more)], "") + more
}

// AddFinalizer puts a finalizer on an object, before the first effect outside of it.
func AddFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) error {
	return patchFinalizers(ctx, c, object, func() bool { return controllerutil.AddFinalizer(object, finalizer) })
}

// RemoveFinalizer takes a finalizer off the very object that was read: one made anew under its name is not touched.
func RemoveFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) error {
	return patchFinalizers(ctx, c, object, func() bool { return controllerutil.RemoveFinalizer(object, finalizer) })
}

// patchFinalizers carries the resource version, since a merge patch replaces the whole list, and with it the UID: a
// resource version is never that of another object.
func patchFinalizers(ctx context.Context, c client.Client, object client.Object, change func() bool) error {
	base, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", object)
	}
	if !change() {
		return nil
	}
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("finalizers of %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
