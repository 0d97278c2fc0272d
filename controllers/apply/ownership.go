package apply

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// TakenDelay is how soon to look again at a name that something else had. The caches do not hold other people's objects,
// so no event tells when it is free.
const TakenDelay = 30 * time.Second

// NameTakenError says that an object which is needed exists and belongs to something else.
type NameTakenError struct {
	// Kind and Name are the object's.
	Kind, Name string
	// Holder says what it belongs to.
	Holder string
}

// Error names the object and its holder, and says how to mend it.
func (e *NameTakenError) Error() string {
	return fmt.Sprintf("%s %s exists and belongs to %s; it is left alone. Delete or rename it to let the operator make its own",
		e.Kind, e.Name, e.Holder)
}

// IsNameTaken says whether an error is, or wraps, a NameTakenError.
func IsNameTaken(err error) bool {
	_, taken := errors.AsType[*NameTakenError](err)
	return taken
}

// OfPool is the Guard of what belongs to a pool: an object bears the pool's UID and nobody else controls it. The UID,
// because an object made anew under an old name is a different object.
func OfPool(uid types.UID) Guard {
	return func(object client.Object) error {
		if holder := controllerOf(object); holder != "" {
			return taken(object, holder)
		}
		switch labels := object.GetLabels(); {
		case labels[v1alpha1.LabelPoolUID] == string(uid):
			return nil
		case labels[v1alpha1.LabelPoolUID] != "":
			return taken(object, fmt.Sprintf("the DesignatePool %s with UID %s", labels[v1alpha1.LabelPool], labels[v1alpha1.LabelPoolUID]))
		default:
			return taken(object, "something that is not this operator's (it has no label "+v1alpha1.LabelPoolUID+")")
		}
	}
}

// OfOperator is the Guard of what a namespace has once: an object bears the operator's label and nobody controls it.
func OfOperator(object client.Object) error {
	if holder := controllerOf(object); holder != "" {
		return taken(object, holder)
	}
	if object.GetLabels()[v1alpha1.LabelManagedBy] != v1alpha1.ManagedByOperator {
		return taken(object,
			"something that is not this operator's (its label "+v1alpha1.LabelManagedBy+" is not "+v1alpha1.ManagedByOperator+")")
	}
	return nil
}

// IsOperators says whether an object is the operator's, as OfOperator has it.
func IsOperators(object client.Object) bool { return OfOperator(object) == nil }

func controllerOf(object client.Object) string {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return fmt.Sprintf("the %s %s, which controls it", controller.Kind, controller.Name)
	}
	return ""
}

func taken(object client.Object, holder string) error {
	return &NameTakenError{Kind: reflect.TypeOf(object).Elem().Name(), Name: object.GetName(), Holder: holder}
}
