package harness

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Wire stands between the operator and the API server. It counts what is written and can fail requests.
type Wire struct {
	next http.RoundTripper

	mutex  sync.Mutex
	writes []string
	reads  int
	fail   func(*http.Request) bool
	// kill is the write at which the operator dies, counted down; it does not when 0. after says that the write still happens.
	kill  int
	after bool
	// dead is closed when it has died.
	dead chan struct{}
}

// ErrDead is what becomes of the requests of an operator that has died.
var ErrDead = errors.New("the operator is dead")

// RoundTrip passes a request on.
func (w *Wire) RoundTrip(request *http.Request) (*http.Response, error) {
	w.mutex.Lock()
	if isWrite(request) {
		w.writes = append(w.writes, request.Method+" "+request.URL.Path)
	} else if request.URL.Query().Get("watch") == "" {
		w.reads++
	}
	fail := w.fail
	w.mutex.Unlock()
	if fail != nil && fail(request) {
		return nil, fmt.Errorf("%s %s failed by the test", request.Method, request.URL.Path)
	}
	dies, err := w.enter(isWrite(request))
	if err != nil {
		return nil, err
	}
	response, err := w.next.RoundTrip(request)
	if !dies {
		return response, err
	}
	w.die()
	if err == nil {
		err = response.Body.Close() // Nobody is there to read it.
	}
	return nil, errors.Join(ErrDead, err)
}

// Kill has the operator die at its n-th write from now on, before or after the API server gets that: none of its requests passes
// any more. What is returned is closed then.
func (w *Wire) Kill(n int, after bool) <-chan struct{} {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.kill, w.after, w.dead = n, after, make(chan struct{})
	return w.dead
}

// Pass passes something on that the operator asks of others than the API server, unless it is dead, and has it die when that is due.
func (w *Wire) Pass(write bool, on func()) error {
	dies, err := w.enter(write)
	if err != nil {
		return err
	}
	on()
	if dies {
		w.die()
		return ErrDead
	}
	return nil
}

// enter counts a request, and says whether the operator dies after it. The error is that it is dead.
func (w *Wire) enter(write bool) (dies bool, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if write && w.kill > 0 {
		w.kill--
		dies = w.kill == 0
	}
	if dies && !w.after {
		close(w.dead)
	}
	if w.isDead() {
		return false, ErrDead
	}
	return dies, nil
}

func (w *Wire) die() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	close(w.dead)
}

func (w *Wire) isDead() bool {
	if w.dead == nil {
		return false
	}
	select {
	case <-w.dead:
		return true
	default:
		return false
	}
}

// Writes are the writes since the last Reset, as method and path. Events do not count.
func (w *Wire) Writes() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.writes)
}

// Reads is the number of reads so far, watches not counted. What the operator reads past its cache shows here, so that a
// test can tell that there were passes.
func (w *Wire) Reads() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.reads
}

// Reset forgets the writes so far.
func (w *Wire) Reset() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.writes = nil
}

// Fail fails every request that which says, until the next call; nil fails none.
func (w *Wire) Fail(which func(*http.Request) bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.fail = which
}

func isWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") &&
		!strings.Contains(request.URL.Path, "/selfsubjectreviews")
}
