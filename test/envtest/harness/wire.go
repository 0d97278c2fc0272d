package harness

import (
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
}

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
	return w.next.RoundTrip(request)
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
