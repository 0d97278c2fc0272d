package tsigkeys

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch

// Reconcile makes one pass over the keys of a namespace, if there is something to do or to look at. What fails in Designate
// is no error of this controller: the View tells it, and the next attempt has a time of its own.
func (r *Registrar) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	backend := &v1alpha1.DesignateBackend{}
	err := r.Client.Get(ctx, request.NamespacedName, backend)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read DesignateBackend: %w", err)
	}
	if gone := apierrors.IsNotFound(err); gone || backend.Spec.Designate.Access == nil {
		r.forget(request.Namespace)
		return ctrl.Result{}, nil
	}
	stored, err := ledger.Read(ctx, r.Client, request.Namespace)
	if errors.Is(err, ledger.ErrLost) {
		// Nothing is known of any pool until it has been written anew, which is an event.
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	pools, err := r.wantedOf(ctx, backend, &stored.Ledger)
	if err != nil {
		return ctrl.Result{}, err
	}
	m := r.memoryOf(backend)
	if m.due(pools, r.Clock.Now()) {
		r.pass(ctx, backend, m, pools)
		if errors.Is(ctx.Err(), context.Canceled) {
			// The operator stops, which says nothing of Designate.
			return ctrl.Result{}, nil
		}
	}
	r.publish(request.Namespace, m, pools)
	if len(pools) == 0 {
		return ctrl.Result{}, nil
	}
	now := r.Clock.Now()
	return ctrl.Result{RequeueAfter: max(m.next(pools, now).Sub(now), time.Second)}, nil
}

// pass lists the keys once, and does what there is to do. A key that fails keeps no other from being seen to.
func (r *Registrar) pass(ctx context.Context, backend *v1alpha1.DesignateBackend, m *memory, pools []wanted) {
	connection, err := r.Connect(ctx, backend)
	if err == nil {
		err = m.list(ctx, connection, pools, r.Clock.Now())
	}
	if err != nil {
		if m.listing.Err == nil {
			log.FromContext(ctx).Info("The TSIG keys cannot be listed", "kind", designate.KindOf(err), "reason", err.Error())
		}
		m.listing = after(m.listing, err, r.Clock.Now())
		return
	}
	m.listing = designate.Setback{}
	for i := range pools {
		uid := pools[i].entry.UID
		todo, failed := m.action(&pools[i]), m.setbacks[uid]
		switch {
		case todo == nothing:
			delete(m.setbacks, uid)
			continue
		case failed.Waits(r.Clock.Now()):
			continue
		}
		if err := m.do(ctx, connection, todo, &pools[i]); err != nil {
			log.FromContext(ctx).Info("A TSIG key cannot be seen to",
				"pool", pools[i].entry.Name, "kind", designate.KindOf(err), "reason", err.Error())
			m.setbacks[uid] = after(failed, err, r.Clock.Now())
			continue
		}
		delete(m.setbacks, uid)
	}
}

// list remembers which keys Designate has under the names of our pools'. Those of other names are none of ours: other
// namespaces and clusters may share the Designate.
func (m *memory) list(ctx context.Context, connection Designate, pools []wanted, now time.Time) error {
	keys, err := connection.TSIGKeys(ctx)
	if err != nil {
		return err
	}
	byName := make(map[string]designate.TSIGKey, len(keys))
	for _, key := range keys {
		byName[key.Name] = key
	}
	registered, foreign := map[types.UID]designate.TSIGKey{}, map[types.UID]string{}
	seen, asked := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range pools {
		uid := pools[i].entry.UID
		asked[uid] = true
		for _, key := range keys {
			if key.PoolID == pools[i].entry.ID && key.Name != builders.TSIGKeyName(uid) {
				foreign[uid] = key.Name
			}
		}
		if key, exists := byName[builders.TSIGKeyName(uid)]; exists {
			registered[uid], seen[uid] = key, true
		} else if m.seen[uid] {
			seen[uid] = true
		}
	}
	m.registered, m.seen, m.asked, m.listed, m.foreign = registered, seen, asked, now, foreign
	return nil
}

// do does one thing about one key, and remembers it.
func (m *memory) do(ctx context.Context, connection Designate, todo action, pool *wanted) error {
	uid, logger := pool.entry.UID, log.FromContext(ctx).WithValues("pool", pool.entry.Name)
	if todo == replace || todo == remove {
		if err := connection.DeleteTSIGKey(ctx, m.registered[uid].ID); err != nil && !designate.IsNotFound(err) {
			return err
		}
		delete(m.registered, uid)
		logger.Info("Removed a TSIG key from Designate")
	}
	if todo == remove {
		delete(m.seen, uid)
		return nil
	}
	created, err := connection.CreateTSIGKey(ctx, desired(pool))
	if err != nil {
		return err
	}
	m.registered[uid], m.seen[uid] = created, true
	logger.Info("Registered the TSIG key in Designate", "again", todo == replace)
	return nil
}
