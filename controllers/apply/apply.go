// Package apply writes to the API server on behalf of a controller: server-side apply that skips what is already so,
// status patches that skip what is already so, and finalizers that are taken off only the object they were put on.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writer writes on behalf of one controller.
type Writer struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. The cache holds only what bears our label, so it cannot say that a name is free.
	Live client.Reader
	// Owner is the field owner of what is applied.
	Owner client.FieldOwner
}

// Configuration is a typed apply configuration.
type Configuration interface {
	runtime.ApplyConfiguration
	GetName() *string
	GetNamespace() *string
}

// Object says how one kind is applied: Live receives the object as it is, Extract takes from it what an owner applied.
type Object[L client.Object, C Configuration] struct {
	Live    L
	Extract func(live L, owner string) (C, error)
	// WhileDeleted has an object written that is being deleted, because it does its work until it is gone.
	WhileDeleted bool
}

// Guard says whether an existing object may be written; its error says why not.
type Guard func(client.Object) error

// Ensure makes what desired says so, and writes only when it is not so yet. Fields that others own are left alone.
// An existing object that guard refuses is not touched. It says whether it wrote.
//
// object.Live holds the object afterwards as it was read, before the write; its name is empty when there was none.
func Ensure[L client.Object, C Configuration](
	ctx context.Context, writer Writer, object Object[L, C], desired C, guard Guard,
) (bool, error) {
	key := client.ObjectKey{Namespace: *desired.GetNamespace(), Name: *desired.GetName()}
	exists, err := writer.get(ctx, key, object.Live)
	if err != nil {
		return false, err
	}
	if exists {
		if err := guard(object.Live); err != nil {
			return false, err
		}
		if object.Live.GetDeletionTimestamp() != nil && !object.WhileDeleted {
			return false, fmt.Errorf("%T %s is still being deleted", object.Live, key)
		}
		current, err := object.Extract(object.Live, string(writer.Owner))
		if err != nil {
			return false, fmt.Errorf("what %s applied to %T %s: %w", writer.Owner, object.Live, key, err)
		}
		if equality.Semantic.DeepEqual(current, desired) {
			return false, nil
		}
	}
	err = writer.Client.Apply(ctx, desired, writer.Owner, client.ForceOwnership)
	if exists && apierrors.IsInvalid(err) {
		err = writer.replace(ctx, object.Live, desired, err)
	}
	if err != nil {
		return false, fmt.Errorf("apply %T %s: %w", object.Live, key, err)
	}
	return true, nil
}

// replace writes what desired says with its lists whole. Somebody's addition to a list may contradict what is applied
// beside it, two ports of one name for example; it has to go, and server-side apply leaves it.
func (w Writer) replace(ctx context.Context, live client.Object, desired Configuration, cause error) error {
	body, err := json.Marshal(desired)
	if err != nil {
		return errors.Join(cause, err)
	}
	if err := w.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, body), w.Owner); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

func (w Writer) get(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := w.Client.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		err = w.Live.Get(ctx, key, object)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %T %s: %w", object, key, err)
	}
	return true, nil
}
