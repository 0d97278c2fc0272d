package serving

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
)

func poolOf(uid string) *v1alpha1.DesignatePool {
	return &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "gold", UID: types.UID(uid)}}
}

func missing(n int) Observation {
	return Observation{Pod: "p", Listed: noon, Asked: noon, Difference: statistics.Difference{Missing: statistics.Tally{Total: n}}}
}

func TestARecreatedPoolHasOneSeries(t *testing.T) {
	o := &Observer{}
	s := []server{{ordinal: 0, pod: "p"}}
	o.remember(poolOf("old"), s, View{}, map[int32]Observation{0: missing(0)})
	o.remember(poolOf("new"), s, View{}, map[int32]Observation{0: missing(0)})
	r := prometheus.NewRegistry()
	r.MustRegister(o)
	if _, err := r.Gather(); err != nil {
		t.Error(err)
	}
}

func TestPassesThatAskNobodyDoNotLengthenTheWait(t *testing.T) {
	o := &Observer{}
	s := []server{{ordinal: 0, pod: "p"}}
	p := poolOf("u")
	o.remember(p, s, View{}, map[int32]Observation{0: missing(1)})
	var wait time.Duration
	for range 4 {
		wait = o.remember(p, s, o.View("u"), nil)
	}
	if wait > firstLook {
		t.Errorf("one look and four idle passes: wait %s, want %s", wait, firstLook)
	}
}

func TestAJoinedServerThatFailedKeepsItsOlderObservation(t *testing.T) {
	r := record{}.next(missing(2))
	f := missing(0)
	f.Listed, f.Err = noon.Add(time.Minute), errors.New("no answer")
	r = r.next(f)
	g := missing(1)
	g.Listed = noon.Add(2 * time.Minute)
	v := View{servers: map[int32]record{0: r.next(g)}}
	d, known := v.Confirmed(0)
	if !known || d.Missing.Total != 1 {
		t.Error(d, known)
	}
}
