package apply

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func object(uid string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID("uid-" + uid)}}
}

// R16: what is gone was to be deleted.
func TestDelete(t *testing.T) {
	down := errors.New("the API server is down")
	for name, test := range map[string]struct {
		exists *corev1.ConfigMap
		fails  error
		going  bool
		asks   int
		want   error
	}{
		"it exists":              {object("ours"), nil, false, 1, nil},
		"R16: it does not":       {nil, nil, false, 1, nil},
		"it is going already":    {object("ours"), nil, true, 0, nil},
		"the API server is down": {object("ours"), down, false, 1, down},
	} {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder()
			if test.exists != nil {
				builder = builder.WithObjects(test.exists)
			}
			asked := 0
			c := interceptor.NewClient(builder.Build(), interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					asked++
					options := (&client.DeleteOptions{}).ApplyOptions(opts)
					if options.Preconditions == nil || options.Preconditions.UID == nil || *options.Preconditions.UID != "uid-ours" {
						t.Error("an object made anew under the name could be deleted")
					}
					if test.fails != nil {
						return test.fails
					}
					return c.Delete(ctx, o)
				},
			})
			target := object("ours")
			if test.going {
				target.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
			}
			if err := Delete(t.Context(), c, target); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if asked != test.asks {
				t.Errorf("asked %d times, want %d", asked, test.asks)
			}
			if left := c.Get(t.Context(), key, &corev1.ConfigMap{}); test.asks == 1 && test.want == nil && !apierrors.IsNotFound(left) {
				t.Errorf("it is still there: %v", left)
			}
		})
	}
}
