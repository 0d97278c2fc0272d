package backend

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// rests remembers since when each pool is as it is. The zero value is ready for use.
type rests struct {
	mutex sync.Mutex
	since map[types.UID]rest
}

type rest struct {
	state string
	since time.Time
}

// Since is when a pool was first seen in a state in which it has been ever since.
func (r *rests) Since(pool types.UID, state string, now time.Time) time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.since == nil {
		r.since = map[types.UID]rest{}
	}
	if r.since[pool].state != state {
		r.since[pool] = rest{state, now}
	}
	return r.since[pool].since
}

// News says whether a state is another one than before.
func (r *rests) News(pool types.UID, state string) bool {
	r.mutex.Lock()
	before, known := r.since[pool]
	r.mutex.Unlock()
	r.Since(pool, state, time.Time{})
	return !known || before.state != state
}

// Forget forgets pools that are gone.
func (r *rests) Forget(pools []types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, pool := range pools {
		delete(r.since, pool)
	}
}
