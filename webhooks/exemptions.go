package webhooks

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// exemptions knows whose changes, and which, are admitted whatever the rules say.
type exemptions struct {
	reader   client.Reader
	operator string
}

// operatorsOwn says whether the operator itself sent the request.
func (e exemptions) operatorsOwn(request admission.Request) bool {
	return request.UserInfo.Username == e.operator
}

// unlessTerminating turns a denial into an admission when the namespace is being deleted, which nothing here may hold
// up. While that cannot be told, the denial stands.
func (e exemptions) unlessTerminating(ctx context.Context, namespace string, denial error) error {
	var ns corev1.Namespace
	if err := e.reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		// Told as text: were it wrapped, its status and not the denial would be the answer.
		return fmt.Errorf("%w (whether namespace %s is being deleted could not be told: %s)", denial, namespace, err.Error())
	}
	if !ns.DeletionTimestamp.IsZero() {
		return nil
	}
	return denial
}

// exempting puts the exemptions before a validator.
type exempting[T runtime.Object] struct {
	exemptions
	validator admission.Validator[T]
}

// ValidateCreate implements admission.Validator.
func (e exempting[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	return e.judge(ctx, func() (admission.Warnings, error) { return e.validator.ValidateCreate(ctx, object) })
}

// ValidateUpdate implements admission.Validator.
func (e exempting[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	return e.judge(ctx, func() (admission.Warnings, error) { return e.validator.ValidateUpdate(ctx, before, after) })
}

// ValidateDelete implements admission.Validator.
func (e exempting[T]) ValidateDelete(ctx context.Context, object T) (admission.Warnings, error) {
	return e.judge(ctx, func() (admission.Warnings, error) { return e.validator.ValidateDelete(ctx, object) })
}

func (e exempting[T]) judge(
	ctx context.Context, rules func() (admission.Warnings, error),
) (admission.Warnings, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, err
	}
	if e.operatorsOwn(request) {
		return nil, nil
	}
	warnings, denial := rules()
	if denial != nil {
		denial = e.unlessTerminating(ctx, request.Namespace, denial)
	}
	return warnings, denial
}
