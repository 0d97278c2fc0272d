package pool

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// nothingKnown is what others have found out: nothing.
type nothingKnown struct{}

func (nothingKnown) View(string) zones.View                          { return zones.View{} }
func (nothingKnown) ListedSince(string, zones.Intent) *zones.Listing { return nil }
func (nothingKnown) Answer(string) pooldeletion.Answer               { return pooldeletion.Answer{} }

type noKeys struct{ view tsigkeys.View }

func (n noKeys) View(string) tsigkeys.View { return n.view }

type noServers struct{}

func (noServers) View(types.UID) serving.View { return serving.View{} }

// R15: a pool that may go is taken down, whatever has become of its DesignateBackend.
func TestAWithdrawnPoolIsTakenDown(t *testing.T) {
	withAccess := &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: v1alpha1.BackendName}}
	withAccess.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	for name, test := range map[string]struct {
		backend *v1alpha1.DesignateBackend
		force   string
		gone    bool
	}{
		"without a backend":                            {nil, "", true},
		"while nobody knows of its key in Designate":   {withAccess, "", false},
		"by force, whatever is known of its key there": {withAccess, "edge", true},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			deleted := metav1.Now()
			pool := &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{
				Namespace: "dns", Name: "edge", UID: "uid-edge", DeletionTimestamp: &deleted, Finalizers: []string{v1alpha1.PoolFinalizer},
				Annotations: map[string]string{v1alpha1.AnnotationForceRemoval: test.force},
			}}
			of := metav1.ObjectMeta{Namespace: "dns", Name: "x", Labels: map[string]string{v1alpha1.LabelPoolUID: "uid-edge"}}
			entry := entryOf("edge", 1)
			entry.Removal = ledger.Withdrawn
			objects := []client.Object{
				pool, ledgerOf(t, v1alpha1.MultiPool, entry), &appsv1.StatefulSet{ObjectMeta: of}, &corev1.Service{ObjectMeta: of},
				&corev1.Secret{ObjectMeta: of}, &corev1.PersistentVolumeClaim{ObjectMeta: of},
			}
			if test.backend != nil {
				objects = append(objects, test.backend.DeepCopy())
			}
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(pool).Build()
			r := &Reconciler{
				Client: c, APIReader: c, Recorder: events.NewFakeRecorder(10), Clock: clocktesting.NewFakePassiveClock(deleted.Time),
				Zones: nothingKnown{}, Deletions: nothingKnown{}, TSIGKeys: noKeys{}, Serving: noServers{},
			}
			for range 6 {
				if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(pool)}); err != nil {
					t.Fatal(err)
				}
			}
			err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), &v1alpha1.DesignatePool{})
			if gone := apierrors.IsNotFound(err); gone != test.gone {
				t.Errorf("the pool is gone: %v (%v), want %v", gone, err, test.gone)
			}
			err = c.Get(t.Context(), client.ObjectKey{Namespace: "dns", Name: "x"}, &appsv1.StatefulSet{})
			if gone := apierrors.IsNotFound(err); gone != test.gone {
				t.Errorf("its servers are gone: %v (%v), want %v", gone, err, test.gone)
			}
		})
	}
}
