package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// scope is what one pass over a namespace knows. gather fills it; the steps add what came of them, for the status.
type scope struct {
	namespace string
	// backend is nil when the namespace has none.
	backend *v1alpha1.DesignateBackend
	// backendErr says what is wrong with its spec. pools.yaml is not made anew while something is.
	backendErr error
	// configured is the usable content of the multipool ConfigMap; nil when it is absent or cannot be used.
	configured *conversion.MultipoolConfig
	// wantedMode is what the configuration asks for; empty when it says nothing that can be relied on.
	wantedMode v1alpha1.Mode
	// unconfigured says that there is no multipool ConfigMap.
	unconfigured bool
	stored       *ledger.Stored
	ledgerLost   bool
	pools        []v1alpha1.DesignatePool
	verdicts     map[types.UID]acceptance.Verdict
	// begunRebuilds are the pools of which a server is to be rebuilt, refusedRebuilds those of which it is not.
	begunRebuilds   []*v1alpha1.DesignatePool
	refusedRebuilds []refusedRebuild
	// gone are the entries of which nothing is left, vanished those of which something but their DesignatePool is.
	gone, vanished []types.UID
	// removals are the gate's verdicts, by what removalFacts say.
	removals     map[types.UID]removal.Verdict
	removalFacts map[types.UID]removal.Facts
	objects      objects
	facts        ledger.Facts
	// zones is what is known of Designate's zones at the time of the pass; nothing without access.
	zones zones.View
	// servesAll says that the pod of a server answers for every zone that a listing found which began after a time.
	servesAll func(pool types.UID, ordinal int32, pod types.UID, since time.Time) bool
	now       time.Time
	// listingAfter is the time after which a listing has to begin that something waits for; zero when nothing does.
	listingAfter time.Time
	// lookAgain is when to make another pass without an event; never when 0.
	lookAgain time.Duration

	// current is pools.yaml as it is; currentText its text. currentErr says that it cannot be read.
	current     []conversion.PoolEntry
	currentText string
	currentErr  error

	poolsYAML poolsYAMLOutcome
	// programming is what comes of telling Designate of the pools.
	programming programming
	// keysErr says why the Secret of all RNDC keys is not as it should be.
	keysErr error
}

// poolsYAMLOutcome is what came of writing pools.yaml.
type poolsYAMLOutcome struct {
	// settled says that pools.yaml names nothing that is to leave.
	settled bool
	// hash is that of the text, when it was written.
	hash string
	// reason and message are those of the condition PoolsYAMLWritten, written its status.
	written         bool
	reason, message string
}

// objects are the pools' objects in the cache.
type objects struct {
	statefulSets []appsv1.StatefulSet
	services     map[string]*corev1.Service
	pods         map[string]*corev1.Pod
	claims       map[string]*corev1.PersistentVolumeClaim
}

// lookAgainAfter asks for another pass without an event.
func (s *scope) lookAgainAfter(delay time.Duration) {
	if delay > 0 && (s.lookAgain == 0 || delay < s.lookAgain) {
		s.lookAgain = delay
	}
}

// awaitListing says that something waits for a listing that begins after a time, unless there is one.
func (s *scope) awaitListing(after time.Time) {
	listing := s.newestListing()
	if (listing == nil || !listing.Began.After(after)) && after.After(s.listingAfter) {
		s.listingAfter = after
	}
}

// idle says that there is nothing in the namespace that an aggregator could work on.
func (s *scope) idle() bool { return s.backend == nil && len(s.pools) == 0 && len(s.stored.Pools) == 0 }

// backendLeaves says that the DesignateBackend is being deleted.
func (s *scope) backendLeaves() bool { return s.backend != nil && s.backend.DeletionTimestamp != nil }

// relatedBackend is the backend as an Event wants it.
func (s *scope) relatedBackend() runtime.Object {
	if s.backend == nil {
		return nil
	}
	return s.backend
}

// gather reads everything that a pass goes by.
func (r *Reconciler) gather(ctx context.Context, namespace string) (*scope, error) {
	s := &scope{namespace: namespace, now: r.Clock.Now()}
	for _, read := range []func(context.Context, *scope) error{
		r.gatherBackend, r.gatherPools, r.gatherConfig, r.gatherLedger, r.gatherObjects, r.gatherPoolsYAML,
	} {
		if err := read(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.hasAccess() {
		s.zones = r.Zones.View(namespace)
	}
	s.servesAll = func(pool types.UID, ordinal int32, pod types.UID, since time.Time) bool {
		return r.Serving.View(pool).ServesAll(ordinal, pod, since)
	}
	s.verdicts = acceptance.Judge(s.pools, acceptance.Claims(s.objects.statefulSets, s.stored.Pools))
	if err := r.gatherVanished(ctx, s); err != nil {
		return nil, err
	}
	if err := r.judgeRemovals(ctx, s); err != nil {
		return nil, err
	}
	s.makeFacts(s.gone)
	return s, nil
}

func (r *Reconciler) gatherBackend(ctx context.Context, s *scope) error {
	backend := &v1alpha1.DesignateBackend{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: v1alpha1.BackendName}, backend)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return wrap(err, "read DesignateBackend")
	}
	s.backend = backend
	_, s.backendErr = conversion.ValidateBackend(backend)
	return nil
}

func (r *Reconciler) gatherPools(ctx context.Context, s *scope) error {
	var pools v1alpha1.DesignatePoolList
	err := r.Client.List(ctx, &pools, client.InNamespace(s.namespace))
	s.pools = pools.Items
	return wrap(err, "list DesignatePools")
}

// gatherConfig reads which mode the configuration asks for: several pools while the ConfigMap lists them or a pool
// besides the default one exists. An unusable ConfigMap asks for nothing.
func (r *Reconciler) gatherConfig(ctx context.Context, s *scope) error {
	configMap := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: v1alpha1.MultipoolConfigMapName}, configMap)
	switch {
	case apierrors.IsNotFound(err):
		s.unconfigured = true
		if s.backend != nil {
			s.wantedMode = v1alpha1.SinglePool
		}
	case err != nil:
		return wrap(err, "read ConfigMap "+v1alpha1.MultipoolConfigMapName)
	default:
		// What is wrong with one that cannot be used, the bridge says.
		if config, err := conversion.ParseConfigMap(configMap); err == nil {
			s.configured = config
			s.wantedMode = v1alpha1.MultiPool
		}
	}
	for i := range s.pools {
		if s.backend != nil && !s.pools[i].IsDefault() {
			s.wantedMode = v1alpha1.MultiPool
		}
	}
	return nil
}

// gatherLedger reads from the API server: two opinions of which numbers are free would be one too many.
func (r *Reconciler) gatherLedger(ctx context.Context, s *scope) error {
	stored, err := ledger.Read(ctx, r.APIReader, s.namespace)
	s.stored = stored
	if errors.Is(err, ledger.ErrLost) {
		s.ledgerLost = true
		return nil
	}
	return err
}

// gatherObjects reads from the cache, unless the ledger is lost: then these objects are all that is known.
func (r *Reconciler) gatherObjects(ctx context.Context, s *scope) error {
	var reader client.Reader = r.Client
	if s.ledgerLost {
		reader = r.APIReader
	}
	inNamespace := client.InNamespace(s.namespace)
	managed := client.HasLabels{v1alpha1.LabelPoolUID}
	var statefulSets appsv1.StatefulSetList
	if err := reader.List(ctx, &statefulSets, inNamespace, managed); err != nil {
		return wrap(err, "list StatefulSets")
	}
	s.objects.statefulSets = statefulSets.Items
	var services corev1.ServiceList
	if err := reader.List(ctx, &services, inNamespace, managed); err != nil {
		return wrap(err, "list Services")
	}
	s.objects.services = make(map[string]*corev1.Service, len(services.Items))
	for i := range services.Items {
		s.objects.services[services.Items[i].Name] = &services.Items[i]
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, inNamespace, managed); err != nil {
		return wrap(err, "list Pods")
	}
	s.objects.pods = make(map[string]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		s.objects.pods[pods.Items[i].Name] = &pods.Items[i]
	}
	var claims corev1.PersistentVolumeClaimList
	if err := reader.List(ctx, &claims, inNamespace, managed); err != nil {
		return wrap(err, "list PersistentVolumeClaims")
	}
	s.objects.claims = make(map[string]*corev1.PersistentVolumeClaim, len(claims.Items))
	for i := range claims.Items {
		s.objects.claims[claims.Items[i].Name] = &claims.Items[i]
	}
	return nil
}

// judge decides which pools may go.
func (s *scope) judge(from *removal.Namespace) {
	s.removals = make(map[types.UID]removal.Verdict, len(s.pools))
	s.removalFacts = make(map[types.UID]removal.Facts, len(s.pools))
	for i := range s.pools {
		facts := from.Of(&s.pools[i])
		s.removalFacts[s.pools[i].UID], s.removals[s.pools[i].UID] = facts, removal.Judge(facts)
	}
	for _, uid := range s.vanished {
		facts := from.OfVanished(s.stored.Pool(uid))
		s.removalFacts[uid], s.removals[uid] = facts, removal.Judge(facts)
	}
}

func wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
