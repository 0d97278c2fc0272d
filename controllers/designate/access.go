package designate

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// The keys of the Secret that spec.designate.access.cloudCredentialsRef names.
const (
	cloudsKey = "clouds.yaml"
	caKey     = "cacert"
)

// Access is how one Designate is reached: at a fixed endpoint without Keystone, or through a cloud of a clouds.yaml. It
// is all that a connection depends on: no file and no environment variable of the process has a say.
type Access struct {
	// Endpoint is the URL of an API without Keystone. When set, nothing below counts.
	Endpoint string
	// CloudsYAML is a whole clouds.yaml, and Cloud the name of the cloud in it.
	CloudsYAML []byte
	Cloud      string
	// CACert are certificates in PEM form: the only ones that servers are checked against. None means those of the system.
	CACert []byte
}

// Equal says that two connections would be the same.
func (a Access) Equal(other Access) bool {
	return a.Endpoint == other.Endpoint && a.Cloud == other.Cloud &&
		bytes.Equal(a.CloudsYAML, other.CloudsYAML) && bytes.Equal(a.CACert, other.CACert)
}

// String tells nothing of the credentials, so that nobody logs them by accident.
func (a Access) String() string {
	if a.Endpoint != "" {
		return "a fixed endpoint"
	}
	return fmt.Sprintf("cloud %q", a.Cloud)
}

// GoString is for %#v what String is for all else.
func (a Access) GoString() string { return a.String() }

// MarshalLog is the same for logs, which would print the fields.
func (a Access) MarshalLog() any { return a.String() }

// AccessOf reads how a DesignateBackend reaches its Designate, each time from the API server: reader must not be a cache.
// The error is Unusable when something is missing or cannot be used, and Unreachable when the API server did not say.
func AccessOf(ctx context.Context, reader client.Reader, backend *v1alpha1.DesignateBackend) (Access, error) {
	configured := backend.Spec.Designate.Access
	switch {
	case configured == nil || configured.CloudCredentialsRef == nil && configured.Endpoint == "":
		return Access{}, unusable(opConfigure, "spec.designate.access is not set")
	case configured.Endpoint != "":
		access := Access{Endpoint: configured.Endpoint}
		_, err := apiURL(access.Endpoint)
		return access, err
	}
	key := client.ObjectKey{Namespace: backend.Namespace, Name: configured.CloudCredentialsRef.SecretName}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return Access{}, unusable(opConfigure, "there is no Secret %s", key.Name)
	case err != nil:
		return Access{}, &Error{
			Kind: Unreachable, Operation: opConfigure, Err: err,
			Detail: fmt.Sprintf("the Kubernetes API server does not give out the Secret %s: %v", key.Name, err),
		}
	case len(secret.Data[cloudsKey]) == 0:
		return Access{}, unusable(opConfigure, "the Secret %s has no key %s", key.Name, cloudsKey)
	}
	access := Access{
		CloudsYAML: secret.Data[cloudsKey], Cloud: configured.CloudCredentialsRef.CloudName, CACert: secret.Data[caKey],
	}
	if _, err := access.cloud(); err != nil {
		return Access{}, err
	}
	if _, err := access.roots(); err != nil {
		return Access{}, err
	}
	return access, nil
}
