package rndckeys

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// R26: the Secret of a pool that had the name before is another one's.
func TestCopiesAreThoseOfThePoolsOwnSecret(t *testing.T) {
	secret := func(uid string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "rndc", Labels: map[string]string{v1alpha1.LabelPoolUID: uid}},
			Data:       map[string][]byte{"rndc-key-1": []byte("key")},
		}
	}
	for name, test := range map[string]struct {
		exists *corev1.Secret
		want   int
	}{
		"its own": {secret("uid-edge"), 1}, "another pool's": {secret("uid-old"), 0}, "none": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder()
			if test.exists != nil {
				builder = builder.WithObjects(test.exists)
			}
			copies, err := Copies(t.Context(), builder.Build(), "dns", "rndc", "uid-edge")
			if err != nil || len(copies) != test.want {
				t.Errorf("%d copies, error %v; want %d", len(copies), err, test.want)
			}
		})
	}
	down := errors.New("the API server is down")
	failing := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return down
		},
	})
	if _, err := Copies(t.Context(), failing, "dns", "rndc", "uid-edge"); !errors.Is(err, down) {
		t.Errorf("error %v, want %v", err, down)
	}
}
