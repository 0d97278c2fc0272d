package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// certificateFiles writes the webhooks' certificate from its Secret into files. A mounted Secret would do the same up to
// a minute and a half later, during which calls fail whenever the authority has changed, and only inside a cluster.
type certificateFiles struct {
	reader    client.Reader
	directory string
}

func addCertificateFiles(mgr ctrl.Manager, secret types.NamespacedName, directory string) error {
	// The manager's own cache knows neither this Secret, which has no label of ours, nor, perhaps, its namespace.
	secrets, err := cluster.New(mgr.GetConfig(), func(options *cluster.Options) {
		options.Scheme = mgr.GetScheme()
		options.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", secret.Name),
		}}
	})
	if err != nil {
		return err
	}
	if err := mgr.Add(secrets); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("webhook-certificate-files").
		WatchesRawSource(source.Kind(secrets.GetCache(), &corev1.Secret{},
			&handler.TypedEnqueueRequestForObject[*corev1.Secret]{})).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false)}).
		Complete(&certificateFiles{reader: secrets.GetClient(), directory: directory})
}

// Reconcile implements reconcile.Reconciler. What was written stays when the Secret goes: it serves until it expires.
func (f *certificateFiles) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var secret corev1.Secret
	if err := f.reader.Get(ctx, request.NamespacedName, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading Secret %s: %w", request.NamespacedName, err)
	}
	certificate, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(certificate) == 0 || len(key) == 0 {
		return ctrl.Result{}, nil
	}
	if err := os.MkdirAll(f.directory, 0o700); err != nil {
		return ctrl.Result{}, err
	}
	// The certificate comes last: where it is, its key is too.
	if err := replaceFile(filepath.Join(f.directory, corev1.TLSPrivateKeyKey), key); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, replaceFile(filepath.Join(f.directory, corev1.TLSCertKey), certificate)
}

// replaceFile gives a file its content in one step, so that no reader meets half of it, and only when it has another.
func replaceFile(path string, content []byte) error {
	present, err := os.ReadFile(path) //nolint:gosec // the administrator names the directory, and this file the names in it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && bytes.Equal(present, content) {
		return nil
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) // Fails after the rename, when nothing is left to remove.
	_, err = draft.Write(content)
	if err := errors.Join(err, draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
