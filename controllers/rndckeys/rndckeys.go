// Package rndckeys reads the Secret that holds the RNDC keys of all servers of a namespace.
package rndckeys

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Owner is the field owner of the keys: the aggregator, which alone makes them.
const Owner client.FieldOwner = "designate-pool-operator-backend"

// Read returns the keys that are as the aggregator wrote them, by name. One that was changed by hand is missing, so that
// nobody takes it over before it has been put back.
func Read(ctx context.Context, reader client.Reader, namespace string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.RNDCSecretName}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s: %w", v1alpha1.RNDCSecretName, err)
	}
	written, err := corev1ac.ExtractSecret(secret, string(Owner))
	if err != nil {
		return nil, fmt.Errorf("what was applied to Secret %s: %w", v1alpha1.RNDCSecretName, err)
	}
	return written.Data, nil
}

// Copies returns the keys in a pool's own Secret, by name; none when that Secret is not the pool's.
func Copies(ctx context.Context, reader client.Reader, namespace, secretName, poolUID string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: secretName}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s: %w", secretName, err)
	}
	if secret.Labels[v1alpha1.LabelPoolUID] != poolUID {
		return nil, nil
	}
	return secret.Data, nil
}
