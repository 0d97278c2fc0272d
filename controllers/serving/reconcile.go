package serving

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
)

const (
	// firstLook is how soon servers that have not joined are asked again; it doubles up to longestLook.
	firstLook   = 5 * time.Second
	longestLook = 30 * time.Second
	// atOnce is how many servers of one pool are asked at a time.
	atOnce = 8
)

// server is one that can be asked.
type server struct {
	ordinal int32
	address string
	pod     types.UID
	joined  bool
}

// Reconcile asks the servers of one pool, those that have not been asked since the newest listing of zones. That one cannot be
// asked is no error of this controller: the View tells it, and the next listing has it asked again.
func (o *Observer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool, stored, access, err := o.read(ctx, request)
	if err != nil {
		return ctrl.Result{}, err
	}
	if stored == nil || stored.Pool(pool.UID) == nil || (!access && stored.Pool(pool.UID).Former == nil) {
		o.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	entry := stored.Pool(pool.UID)
	servers, err := o.servers(ctx, pool.Namespace, stored.Mode, entry)
	if err != nil {
		return ctrl.Result{}, err
	}
	against := o.yardstick(ctx, pool.Namespace, entry, access)
	if against == nil {
		return ctrl.Result{}, nil // The observer of zones tells when there is a listing.
	}
	before := o.View(pool.UID)
	asked := o.ask(ctx, before, servers, against)
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, nil // The operator stops.
	}
	return ctrl.Result{RequeueAfter: o.remember(pool, servers, before, asked)}, nil
}

// read reads a pool, the ledger, which is nil when there is none, and whether there is access to Designate.
func (o *Observer) read(ctx context.Context, request ctrl.Request) (*v1alpha1.DesignatePool, *ledger.Stored, bool, error) {
	pool := &v1alpha1.DesignatePool{}
	err := o.Client.Get(ctx, request.NamespacedName, pool)
	if apierrors.IsNotFound(err) {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read DesignatePool: %w", err)
	}
	backend := &v1alpha1.DesignateBackend{}
	err = o.Client.Get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: v1alpha1.BackendName}, backend)
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, false, fmt.Errorf("read DesignateBackend: %w", err)
	}
	stored, err := ledger.Read(ctx, o.Client, pool.Namespace)
	if errors.Is(err, ledger.ErrLost) {
		return pool, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, err
	}
	// A DesignateBackend that does not exist has no access either.
	return pool, stored, backend.Spec.Designate.Access != nil, nil
}

// yardstick is what servers are held against.
type yardstick struct {
	// began is when it began to be found out.
	began  time.Time
	wanted *statistics.Wanted
	// err says why it could not be found out, for whoever asks of a server.
	err error
}

// yardstick is what Designate has in the pool, nil before there is a listing. Without access it is what the pool's former servers answer
// for, as far as clients may be led to them: who takes over has to have as much.
func (o *Observer) yardstick(ctx context.Context, namespace string, entry *ledger.Pool, access bool) *yardstick {
	now := o.Clock.Now()
	if access {
		listing := o.Zones.View(namespace).Fresh(now)
		if listing == nil {
			return nil
		}
		return &yardstick{began: listing.Began, wanted: listing.WantedIn(entry.ID)}
	}
	var all []*statistics.Zones
	for _, former := range entry.FormerServers() {
		if !former.Joined {
			continue
		}
		has, err := o.Ask(ctx, former.Address)
		if err != nil {
			return &yardstick{began: now, err: fmt.Errorf("former server %d, from which others are to take over: %w", former.Ordinal, err)}
		}
		all = append(all, has)
	}
	wanted, err := statistics.WantedFrom(all...)
	return &yardstick{began: now, wanted: wanted, err: err}
}

// servers are those of a pool that pools.yaml names and whose pods are ready.
func (o *Observer) servers(ctx context.Context, namespace string, mode v1alpha1.Mode, entry *ledger.Pool) ([]server, error) {
	var pods corev1.PodList
	labels := client.MatchingLabels{v1alpha1.LabelPoolUID: string(entry.UID)}
	if err := o.Client.List(ctx, &pods, client.InNamespace(namespace), labels); err != nil {
		return nil, fmt.Errorf("list Pods: %w", err)
	}
	byName := map[string]*corev1.Pod{}
	for i := range pods.Items {
		byName[pods.Items[i].Name] = &pods.Items[i]
	}
	var servers []server
	for _, s := range entry.Servers {
		pod := byName[builders.PodName(builders.StatefulSetName(mode, entry.Index), s.Ordinal)]
		if s.Listed() && builders.PodReady(pod) {
			servers = append(servers, server{ordinal: s.Ordinal, address: s.Address, pod: pod.UID, joined: s.Joined})
		}
	}
	return servers, nil
}

// ask asks the servers that it is time to ask, several at once.
func (o *Observer) ask(ctx context.Context, before View, servers []server, against *yardstick) map[int32]Observation {
	var (
		group  sync.WaitGroup
		mutex  sync.Mutex
		places = make(chan struct{}, atOnce)
		asked  = map[int32]Observation{}
	)
	for _, s := range servers {
		if !o.due(before, s, against.began) {
			continue
		}
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			observation := Observation{Pod: s.pod, Listed: against.began, Asked: o.Clock.Now(), Err: against.err}
			if against.err == nil {
				has, err := o.Ask(ctx, s.address)
				if observation.Err = err; err == nil {
					observation.Difference = statistics.Compare(has, against.wanted)
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			asked[s.ordinal] = observation
		})
	}
	group.Wait()
	return asked
}

// due says that a server has to be asked: once for each listing and pod, and again and again while it is to join.
func (o *Observer) due(before View, s server, listed time.Time) bool {
	r, known := before.servers[s.ordinal]
	if !known || r.last.Pod != s.pod || !r.last.Listed.Equal(listed) {
		return true
	}
	return lacks(s, r.last) && o.Clock.Now().Sub(r.last.Asked) >= firstLook
}

// lacks says that a server cannot join as it was found.
func lacks(s server, found Observation) bool {
	return !s.joined && (found.Err != nil || found.Difference.Missing.Total > 0)
}

// remember keeps what was found out, tells whom it concerns, and returns when to look again; 0 for the next listing.
func (o *Observer) remember(pool *v1alpha1.DesignatePool, servers []server, before View, asked map[int32]Observation) time.Duration {
	after := View{servers: make(map[int32]record, len(servers))}
	complete, lacking := false, false
	for _, s := range servers {
		r := before.servers[s.ordinal]
		if found, again := asked[s.ordinal]; again {
			r = r.next(found)
			complete = complete || (!s.joined && !lacks(s, found))
		}
		if r.last.Pod != "" {
			after.servers[s.ordinal] = r
			lacking = lacking || lacks(s, r.last)
		}
	}
	wait := o.keep(pool, after, lacking, len(asked) > 0)
	if !maps.Equal(before.told(), after.told()) {
		o.pools.Tell(client.ObjectKeyFromObject(pool))
	}
	if complete {
		o.backends.Tell(client.ObjectKey{Namespace: pool.Namespace, Name: v1alpha1.BackendName})
	}
	return wait
}

// keep keeps the view of a pool, and returns when to look again: while servers lack zones that are to join, less and less often
// each time that they were asked.
func (o *Observer) keep(pool *v1alpha1.DesignatePool, view View, lacking, asked bool) time.Duration {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	// Of a pool that was made anew under the name of another, nothing of that one is left.
	maps.DeleteFunc(o.known, func(uid types.UID, k *knowledge) bool {
		return uid != pool.UID && k.pool == client.ObjectKeyFromObject(pool)
	})
	if o.known == nil {
		o.known = map[types.UID]*knowledge{}
	}
	k := o.known[pool.UID]
	if k == nil {
		k = &knowledge{pool: client.ObjectKeyFromObject(pool)}
		o.known[pool.UID] = k
	}
	k.view = view
	if !lacking {
		k.joining = 0
		return 0
	}
	if asked || k.joining == 0 {
		k.joining++
	}
	return min(firstLook<<min(k.joining-1, 3), longestLook)
}

// next is the record with a newer observation. What an older listing found is kept as long as the same pod serves; that of the
// same listing is replaced.
func (r record) next(found Observation) record {
	switch {
	case r.last.Pod != found.Pod:
		return record{last: found}
	case r.last.Err == nil && !r.last.Listed.Equal(found.Listed):
		before := r.last
		return record{last: found, before: &before}
	default:
		return record{last: found, before: r.before}
	}
}

// told is what statuses say of a view.
func (v View) told() map[int32]string {
	texts := make(map[int32]string, len(v.servers))
	for ordinal := range v.servers {
		difference, known := v.Confirmed(ordinal)
		texts[ordinal] = fmt.Sprint(known, difference, v.Failure(ordinal))
	}
	return texts
}

// forget forgets a pool that is gone, or that cannot be held against anything any more.
func (o *Observer) forget(pool client.ObjectKey) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	maps.DeleteFunc(o.known, func(_ types.UID, k *knowledge) bool { return k.pool == pool })
}
