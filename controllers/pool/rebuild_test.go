package pool

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

func TestAServerThatIsRebuiltLosesTheClaimThatItHad(t *testing.T) {
	s := healthy()
	uid := string(s.pool.UID)
	pod := builders.PodName(s.statefulSetName(), 0)
	object := func(name, uid string, of string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: s.pool.Namespace, Name: name, UID: types.UID(uid), Labels: map[string]string{"designate.openstack.org/pool-uid": of},
		}
	}
	var closed map[string]string
	for name, test := range map[string]struct {
		selector map[string]string
		claim    string
		of       string
		want     bool
	}{
		"once clients are not led to it": {closed, "old", uid, true},
		"not while they are":             {map[string]string{"pod": "0"}, "old", uid, false},
		"not the one that it has anew":   {closed, "new", uid, false},
		"not somebody else's":            {closed, "old", "another", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.entry.Servers[0].Rebuilding = "old"
			service := &corev1.Service{
				ObjectMeta: object(builders.ClientServiceName(s.entry.Index, 0), "service", uid), Spec: corev1.ServiceSpec{Selector: test.selector},
			}
			c := fake.NewClientBuilder().WithObjects(service, &corev1.Pod{ObjectMeta: object(pod, "pod", uid)},
				&corev1.PersistentVolumeClaim{ObjectMeta: object(builders.ClaimName(pod), test.claim, test.of)}).Build()
			if _, err := (&Reconciler{Client: c, APIReader: c}).emptyServers(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			for _, left := range []client.Object{
				&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}},
				&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: builders.ClaimName(pod)}},
			} {
				err := c.Get(t.Context(), client.ObjectKey{Namespace: s.pool.Namespace, Name: left.GetName()}, left)
				if gone := apierrors.IsNotFound(err); gone != test.want {
					t.Errorf("%T is gone: %v (%v), want %v", left, gone, err, test.want)
				}
			}
		})
	}
}
