package backend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// lostLedger is a namespace whose ledger is lost, with the pools default and edge, and pools.yaml as both left it.
func lostLedger() *scope {
	s := inForce()
	s.stored.Mode = ""
	s.pools = []v1alpha1.DesignatePool{pool("default", 0), pool("edge", 1)}
	s.objects = together(deployed(entry("default", 0, 1, 1)), deployed(entry("edge", 1, 1, 2)))
	s.current = []conversion.PoolEntry{
		{Name: "default", NSRecords: spec(1).NSRecords, Nameservers: []conversion.Address{{Host: "10.96.0.0"}}},
		{Name: "edge", NSRecords: spec(1).NSRecords, Nameservers: []conversion.Address{{Host: "10.96.1.0"}}},
	}
	return s
}

func (s *scope) planned() *ledger.Ledger {
	s.factsOfAll()
	return s.plan()
}

// TestNumbersOfUnknownObjectsAreGivenToNobody: pools.yaml does not hold the pool, so it gets no entry, and its servers
// run all the same.
func TestNumbersOfUnknownObjectsAreGivenToNobody(t *testing.T) {
	s := inForce(entry("default", 0, 1, 1))
	s.pools = []v1alpha1.DesignatePool{pool("default", 0), pool("new", 9)}
	s.objects = together(deployed(entry("default", 0, 1, 1)), deployed(entry("stranger", 1, 1, 2)))
	planned := s.planned()
	if planned.Pool("uid-stranger") != nil {
		t.Error("a pool that neither a DesignatePool nor pools.yaml knows has an entry")
	}
	if added := planned.Pool("uid-new"); added.Index != 2 || added.Servers[0].RNDCKey != 3 {
		t.Errorf("the new pool has index %d and key %d, want 2 and 3", added.Index, added.Servers[0].RNDCKey)
	}
}

func TestALostLedgerDropsNoPoolForAnInvalidSpec(t *testing.T) {
	s := lostLedger()
	s.pools[1].Spec.NSRecords = nil
	s.pools[1].Spec.BINDReplicas = 7
	edge := entry("edge", 1, 1, 2)
	edge.Accepted.PoolName = "edge"
	if diff := cmp.Diff(&edge, s.planned().Pool("uid-edge"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("its entry (-before the loss +after):\n%s", diff)
	}
}

func TestALostLedgerGivesAwayNoKeyOfAPoolThatGetsNoEntry(t *testing.T) {
	s := lostLedger()
	s.pools[1].Spec.NSRecords = nil
	s.pools[0].Spec.BINDReplicas = 2
	s.current = s.current[:1]
	if key := s.planned().Pool("uid-default").Server(1).RNDCKey; key == 2 {
		t.Error("the new server has the key with which a server of edge runs")
	}
}

// TestALostLedgerEndsARemovalThatHasBegun: of the pool only Services are left.
func TestALostLedgerEndsARemovalThatHasBegun(t *testing.T) {
	s := lostLedger()
	s.pools[1].DeletionTimestamp = ptr.To(metav1.Unix(1_700_000_000, 0))
	s.pools[1].Annotations = map[string]string{v1alpha1.AnnotationForceRemoval: "edge"}
	s.objects.statefulSets = s.objects.statefulSets[:1]
	// The entry comes first, and with it what the gate goes by.
	s.stored.Ledger = *s.planned()
	s.ledgerLost = false
	entry := s.planned().Pool("uid-edge")
	if entry == nil || entry.Removal != ledger.Withdrawing || entry.Index != 1 {
		t.Errorf("its entry is %+v, want one that is being withdrawn", entry)
	}
}

// TestServersWhoseDesignatePoolVanishedKeepTheirName: two pools of one name in pools.yaml would stop it being written.
func TestServersWhoseDesignatePoolVanishedKeepTheirName(t *testing.T) {
	for name, stored := range map[string][]ledger.Pool{
		"when the ledger is lost":                       nil,
		"when the ledger knows the pool made meanwhile": {entry("default", 0, 1, 1), {UID: "uid-anew", Name: "edge", Index: 2, Accepted: spec(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := lostLedger()
			s.stored.Pools = stored
			if stored != nil {
				s.stored.Mode = v1alpha1.MultiPool
			}
			s.pools[1].UID = "uid-anew"
			named := map[string]int{}
			for _, entry := range s.planned().Pools {
				named[entry.Name]++
			}
			if diff := cmp.Diff(map[string]int{"default": 1, "edge": 1}, named); diff != "" {
				t.Errorf("entries of each name (-want +got):\n%s", diff)
			}
		})
	}
}
