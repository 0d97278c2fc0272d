package killpoints

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/test/designate/faults"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

// quiet is how long the operator has to write nothing to count as at rest.
const quiet = 2500 * time.Millisecond

// world is a namespace with an operator of its own. Pools bear its name, because all worlds share one Designate.
type world struct {
	namespace string
	// single says that the world begins with a single pool, without a ConfigMap.
	single  bool
	proxy   *faults.Proxy
	stop    context.CancelFunc
	kubelet sync.WaitGroup

	mutex    sync.Mutex
	operator *harness.Operator
}

// newWorld makes a namespace, in which the operator reaches Designate or does not, and starts an operator.
func newWorld(ctx context.Context, access, single bool) (*world, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kill-"}}
	if err := kube.Create(ctx, namespace); err != nil {
		return nil, err
	}
	w := &world{namespace: namespace.Name, single: single}
	backend := harness.Backend(w.namespace, 1)
	if single {
		backend.Spec.DefaultPool.BINDReplicas = 2
	}
	if access {
		proxy, err := faults.Start("127.0.0.1:0", stack.NoAuthURL)
		if err != nil {
			return nil, err
		}
		// Requests that change something are the operator's writes, too.
		proxy.Break("/v2/", faults.Around(func(r *http.Request, pass func()) bool {
			return w.wire().Pass(r.Method != http.MethodGet, pass) == nil
		}))
		w.proxy = proxy
		backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: proxy.URL}
		backend.Spec.Designate.PollInterval = &metav1.Duration{Duration: 5 * time.Second}
		backend.Spec.Designate.RPCResponseTimeout = &metav1.Duration{Duration: time.Second}
		backend.Spec.Designate.Apply = v1alpha1.ApplyJob
		backend.Spec.Designate.PoolUpdate = &v1alpha1.PoolUpdate{
			Image: "registry.example.org/designate:15", ConfigSecretName: "designate-config",
			Workers:    []v1alpha1.Workload{{Kind: v1alpha1.WorkloadDeployment, Name: "designate-worker"}},
			SettleTime: &metav1.Duration{Duration: time.Second},
		}
	}
	for _, object := range []client.Object{worker(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate-config"}}, backend} {
		object.SetNamespace(w.namespace)
		if err := kube.Create(ctx, object); err != nil {
			return nil, err
		}
	}
	run, stop := context.WithCancel(ctx)
	w.stop = stop
	w.kubelet.Go(func() { w.runJobs(run) })
	err := w.start(ctx)
	return w, err
}

// worker is Designate's, as an installer would make it.
func worker() *appsv1.Deployment {
	labels := map[string]string{"app": "designate-worker"}
	pod := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "worker", Image: "registry.example.org/designate:15",
			VolumeMounts: []corev1.VolumeMount{{Name: "keys", MountPath: "/etc/designate/rndc-keys"}},
		}},
		Volumes: []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: v1alpha1.RNDCSecretName},
		}}},
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "designate-worker"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}
}

// start starts an operator that has not died.
func (w *world) start(ctx context.Context) error {
	settings := harness.Settings{Config: plane.Config, Namespace: w.namespace, Logger: logr.Discard()}
	if w.single {
		// Servers that kwok plays have no zones, so that others can take over from them.
		settings.Ask = func(context.Context, string) (*statistics.Zones, error) { return &statistics.Zones{}, nil }
	}
	operator, err := harness.StartOperator(ctx, settings)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.operator = operator
	return err
}

func (w *world) wire() *harness.Wire {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.operator.Wire
}

// end ends everything that runs for the world, and removes its pools from Designate, which others list. Its objects stay: the whole
// control plane goes in the end.
func (w *world) end(ctx context.Context) error {
	w.stop()
	w.kubelet.Wait()
	errs := []error{w.operator.Stop()}
	if w.proxy == nil {
		return errors.Join(errs...)
	}
	errs = append(errs, w.proxy.Refuse())
	stored, err := w.ledger(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, entry := range stored.Pools {
		if entry.Name != v1alpha1.DefaultPoolName {
			errs = append(errs, stack.RemovePool(ctx, entry.ID))
		}
	}
	return errors.Join(errs...)
}

// named is a pool's name in this world.
func (w *world) named(pool string) string {
	if pool == v1alpha1.DefaultPoolName {
		return pool
	}
	return pool + "-" + strings.TrimPrefix(w.namespace, "kill-")
}

// size is a pool with a number of servers.
type size struct {
	name     string
	replicas int
}

// configure writes the multipool ConfigMap.
func (w *world) configure(ctx context.Context, pools ...size) error {
	var text strings.Builder
	for _, pool := range pools {
		fmt.Fprintf(&text, "- name: %s\n  bindReplicas: %d\n  attributes: {tier: %[1]s}\n  nsRecords: [{hostname: ns1.example.org., priority: 1}]\n",
			w.named(pool.name), pool.replicas)
	}
	desired := harness.MultipoolConfig(w.namespace, text.String())
	err := kube.Create(ctx, desired)
	if err == nil {
		return nil
	}
	return running.Await(ctx, func() error {
		live := &corev1.ConfigMap{}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(desired), live); err != nil {
			return err
		}
		live.Data = desired.Data
		return kube.Update(ctx, live)
	})
}

// unconfigure deletes the multipool ConfigMap.
func (w *world) unconfigure(ctx context.Context) error {
	return running.Await(ctx, func() error {
		return client.IgnoreNotFound(kube.Delete(ctx, harness.MultipoolConfig(w.namespace, "")))
	})
}

// rest waits until the operator has written nothing for a while, and the pools there are stand as wanted.
func (w *world) rest(ctx context.Context, stands func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	last, since := -1, time.Now()
	return running.Await(ctx, func() error {
		writes := w.wire().Writes()
		if len(writes) != last {
			last, since = len(writes), time.Now()
			return fmt.Errorf("still writing: %v", writes[max(0, last-4):])
		}
		if err := stands(ctx); err != nil {
			return err
		}
		if time.Since(since) < quiet {
			return errors.New("not for long enough")
		}
		return nil
	})
}

// ledger is the newest one.
func (w *world) ledger(ctx context.Context) (*ledger.Stored, error) {
	return ledger.Read(ctx, kube, w.namespace)
}

// pool is a DesignatePool; the error is that it does not exist, or could not be read.
func (w *world) pool(ctx context.Context, name string) (*v1alpha1.DesignatePool, error) {
	pool := &v1alpha1.DesignatePool{}
	return pool, kube.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: w.named(name)}, pool)
}

// ready says that pools have as many servers ready as they are to, and that nobody wants anything of them.
func (w *world) ready(ctx context.Context, pools ...size) error {
	for _, want := range pools {
		pool, err := w.pool(ctx, want.name)
		if err != nil {
			return err
		}
		conditionType := v1alpha1.ConditionReady
		if w.proxy != nil {
			// Servers that kwok plays have no zones to tell of, so they never join.
			conditionType = v1alpha1.ConditionProgrammed
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, conditionType)
		if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != pool.Generation {
			return fmt.Errorf("pool %s: %+v", want.name, c)
		}
		if len(pool.Status.Servers) != want.replicas || int(pool.Status.ReadyReplicas) != want.replicas {
			return fmt.Errorf("pool %s has %d servers, %d of them ready, want %d",
				want.name, len(pool.Status.Servers), pool.Status.ReadyReplicas, want.replicas)
		}
	}
	return nil
}
