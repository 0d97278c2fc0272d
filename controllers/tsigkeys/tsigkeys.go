// Package tsigkeys registers the TSIG keys of the pools in Designate: last, because a key is what opens a pool for zones,
// and again whenever somebody takes one away.
package tsigkeys

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/requests"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Designate is what the registrar asks of one.
type Designate interface {
	// TSIGKeys are all keys that there are.
	TSIGKeys(ctx context.Context) ([]designate.TSIGKey, error)
	CreateTSIGKey(ctx context.Context, key designate.TSIGKey) (designate.TSIGKey, error)
	DeleteTSIGKey(ctx context.Context, id string) error
}

// Registrar keeps the key of every pool registered. It is one controller; a request names a DesignateBackend.
type Registrar struct {
	// Client reads from the cache.
	Client client.Reader
	// Connect returns the Designate that a DesignateBackend says.
	Connect func(ctx context.Context, backend *v1alpha1.DesignateBackend) (Designate, error)
	// Zones tells which pools Designate has, and which zones.
	Zones zones.Viewer
	Clock clock.PassiveClock

	mutex    sync.Mutex
	memories map[string]*memory
	pools    requests.Audience
}

// PoolChanges asks for DesignatePools when what is known of their keys changes.
func (r *Registrar) PoolChanges() source.Source { return r.pools.Source() }

// Viewer tells what is known of the keys of a namespace's pools.
type Viewer interface {
	View(namespace string) View
}

// View implements Viewer.
func (r *Registrar) View(namespace string) View {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if m := r.memories[namespace]; m != nil {
		return m.view
	}
	return View{}
}

// View is what is known of the keys that one Designate has. It is never changed once it has been given out.
type View struct {
	// asked are the pools whose keys have been looked for.
	asked map[types.UID]bool
	// registered are the keys of our pools that Designate has, states how each of them stands.
	registered map[types.UID]designate.TSIGKey
	states     map[types.UID]state
}

// Registered is the key that Designate has under the name of a pool's, nil when it has none; known says that it was asked.
func (v View) Registered(pool types.UID) (key *designate.TSIGKey, known bool) {
	if found, exists := v.registered[pool]; exists {
		return &found, v.asked[pool]
	}
	return nil, v.asked[pool]
}

// Left says, for people, that Designate may still have the key of a pool that is removed; nothing when it has none.
func (v View) Left(pool types.UID) string {
	switch key, asked := v.Registered(pool); {
	case !asked:
		return "Designate has not said yet whether it has the pool's TSIG key."
	case key != nil:
		return fmt.Sprintf("Designate has the pool's TSIG key %s, which is about to be removed there.", key.Name)
	default:
		return ""
	}
}
