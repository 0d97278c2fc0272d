package operator_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/options"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

const (
	// pollInterval is the shortest that the API allows.
	pollInterval = 5 * time.Second
	// rpcTimeout is how long a zone may be under way, as far as the operator knows. Nothing here takes so long.
	rpcTimeout = 2 * time.Second
	// requestTimeout is what a frozen server costs.
	requestTimeout = 5 * time.Second

	secretName = "clouds"
	cloudName  = "test"
)

// world is a namespace with an operator of its own, which reaches Designate.
type world struct {
	context.Context
	namespace string
	operator  *harness.Operator
	// seen is every number of zones that the status of a pool has told, -1 for none, by the pool's name.
	mutex sync.Mutex
	seen  map[string][]int32
}

// newWorld makes a namespace with a DesignateBackend and starts an operator for it.
func newWorld(ctx context.Context, access *v1alpha1.DesignateAccess, objects ...client.Object) *world {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(kube.Create(ctx, namespace)).To(Succeed())
	w := &world{Context: ctx, namespace: namespace.Name, seen: map[string][]int32{}}
	w.watchZones()
	for _, object := range objects {
		object.SetNamespace(w.namespace)
		Expect(kube.Create(ctx, object)).To(Succeed())
	}
	backend := harness.Backend(w.namespace, 1)
	backend.Spec.Designate.Access = access
	backend.Spec.Designate.PollInterval = &metav1.Duration{Duration: pollInterval}
	backend.Spec.Designate.RPCResponseTimeout = &metav1.Duration{Duration: rpcTimeout}
	Expect(kube.Create(ctx, backend)).To(Succeed())
	w.startOperator()
	DeferCleanup(func() { w.stopOperator() })
	return w
}

func (w *world) startOperator() {
	GinkgoHelper()
	opts := options.Default()
	opts.DesignateTimeout = requestTimeout
	logger := zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)).WithName(w.namespace)
	var err error
	w.operator, err = harness.StartOperator(w, harness.Settings{Config: plane.Config, Namespace: w.namespace, Logger: logger, Options: &opts})
	Expect(err).NotTo(HaveOccurred())
}

func (w *world) stopOperator() {
	GinkgoHelper()
	if w.operator != nil {
		Expect(w.operator.Stop()).To(Succeed())
		w.operator = nil
	}
}

// watchZones writes down every number of zones that a status tells.
func (w *world) watchZones() {
	GinkgoHelper()
	watch, err := kube.Watch(context.WithoutCancel(w), &v1alpha1.DesignatePoolList{}, client.InNamespace(w.namespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watch.Stop)
	go func() {
		for event := range watch.ResultChan() {
			pool, ok := event.Object.(*v1alpha1.DesignatePool)
			if !ok {
				continue
			}
			number := int32(-1)
			if pool.Status.Zones != nil {
				number = pool.Status.Zones.Total
			}
			w.mutex.Lock()
			w.seen[pool.Name] = append(w.seen[pool.Name], number)
			w.mutex.Unlock()
		}
	}()
}

// numbers are those that the status of a pool has told since it told of zones for the first time.
func (w *world) numbers(pool string) []int32 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for i, number := range w.seen[pool] {
		if number >= 0 {
			return append([]int32(nil), w.seen[pool][i:]...)
		}
	}
	return nil
}

func (w *world) pool(name string) *v1alpha1.DesignatePool {
	pool := &v1alpha1.DesignatePool{}
	if err := kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: name}, pool); err != nil {
		return &v1alpha1.DesignatePool{}
	}
	return pool
}

func (w *world) backend() *v1alpha1.DesignateBackend {
	GinkgoHelper()
	backend := &v1alpha1.DesignateBackend{}
	Expect(kube.Get(w, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.BackendName}, backend)).To(Succeed())
	return backend
}

// condition is the reason of a condition of the DesignateBackend with its status, such as "True Reachable".
func (w *world) condition(conditionType string) string {
	GinkgoHelper()
	condition := meta.FindStatusCondition(w.backend().Status.Conditions, conditionType)
	if condition == nil {
		return ""
	}
	return string(condition.Status) + " " + condition.Reason
}

// eventuallyCondition waits for a condition of the DesignateBackend.
func (w *world) eventuallyCondition(conditionType, want string) {
	GinkgoHelper()
	Eventually(func() string { return w.condition(conditionType) }).WithContext(w).Should(Equal(want), conditionType)
}

// eventuallyZones waits until the status of a pool tells of a number of zones.
func (w *world) eventuallyZones(pool string, want int32) {
	GinkgoHelper()
	Eventually(func() *v1alpha1.PoolZones { return w.pool(pool).Status.Zones }).WithContext(w).
		Should(HaveField("Total", want), "zones of pool "+pool)
}

// throughKeystone is access with the credentials of an administrator.
func throughKeystone() *v1alpha1.DesignateAccess {
	return &v1alpha1.DesignateAccess{CloudCredentialsRef: &v1alpha1.CloudCredentialsRef{SecretName: secretName, CloudName: cloudName}}
}

// at is access to an API that believes its headers.
func at(endpoint string) *v1alpha1.DesignateAccess {
	return &v1alpha1.DesignateAccess{Endpoint: endpoint}
}

// clouds is the Secret with somebody's clouds.yaml. The region says whether a proxy is in between.
func clouds(who running.Credentials, region string) *corev1.Secret {
	text := fmt.Sprintf(`clouds:
  %s:
    auth:
      auth_url: %s
      username: %q
      password: %q
      project_name: %q
      user_domain_name: Default
      project_domain_name: Default
    region_name: %s
`, cloudName, stack.KeystoneURL, who.User, who.Password, who.Project, region)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretName}, StringData: map[string]string{"clouds.yaml": text}}
}

// touchClouds changes the Secret with credentials without changing them, so that the zones are listed soon. Through Keystone a
// listing takes so long on a busy machine that the next one would be a minute later.
func (w *world) touchClouds() {
	GinkgoHelper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: secretName}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	Expect(kube.Patch(w, secret, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// zoneName is a name that no other spec uses.
func zoneName(label string) string {
	return fmt.Sprintf("%s.%d.example.", label, GinkgoRandomSeed()+time.Now().UnixNano()%1_000_000_000)
}

// makeZones makes zones in the default pool, of projects of their own, and has them deleted after the spec.
func makeZones(ctx context.Context, count int) {
	GinkgoHelper()
	for i := range count {
		zone, err := stack.CreateZone(ctx, strings.Repeat(fmt.Sprint(i%10), 32), zoneName(fmt.Sprintf("zone-%d", i)), nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(stack.RemoveZone, zone.ID)
	}
}

// total is how many zones Designate has in a pool, counted by the test.
func total(ctx context.Context, poolID string) int32 {
	GinkgoHelper()
	var list struct {
		Zones []running.Zone `json:"zones"`
	}
	Expect(stack.NoAuth("any").AllProjects().Call(ctx, http.MethodGet, "/v2/zones?limit=1000", nil, &list)).To(Succeed())
	var number int32
	for _, zone := range list.Zones {
		if zone.PoolID == poolID {
			number++
		}
	}
	return number
}
