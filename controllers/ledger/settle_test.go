package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServersStayUntilOneThatStaysHasJoined: a pool is scaled to 1, and its server 0 is not ready. That a client Service
// is not open yet, or was deleted by hand, is no reason to let its server go.
func TestServersStayUntilOneThatStaysHasJoined(t *testing.T) {
	const first, second, third = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	for name, test := range map[string]struct {
		servers []Server
		open    []int32
	}{
		"the one that stays is in pools.yaml since the pool was scaled to 0": {
			[]Server{{Ordinal: 0, RNDCKey: 1, Address: first}, {Ordinal: 1, RNDCKey: 2, Address: second, Joined: true}}, nil,
		},
		"one of two others is not open": {
			[]Server{{Ordinal: 0, RNDCKey: 1}, {Ordinal: 1, RNDCKey: 2, Address: second, Joined: true}, {Ordinal: 2, RNDCKey: 3, Address: third, Joined: true}},
			[]int32{2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			planned := &Ledger{Version: formatVersion, Pools: []Pool{{UID: "uid-1", Servers: test.servers}}}
			planned.Pools[0].Accepted.BINDReplicas = 1
			facts := PoolFacts{UID: "uid-1", Programmed: true, Replicas: 3, Servers: map[int32]ServerFacts{0: {PodExists: true}, 1: {PodExists: true}, 2: {PodExists: true}}}
			for _, ordinal := range test.open {
				facts.Servers[ordinal] = ServerFacts{PodExists: true, ClientOpen: true}
			}
			settled := Settle(planned, Facts{Pools: []PoolFacts{facts}})
			if diff := cmp.Diff(test.servers, settled.Pools[0].Servers); diff != "" {
				t.Errorf("servers (-before +after):\n%s", diff)
			}
		})
	}
}

// TestAPoolIsNotWithdrawnWhileAPoolUpdateMayBringItBack: the run has to end first, however it does.
func TestAPoolIsNotWithdrawnWhileAPoolUpdateMayBringItBack(t *testing.T) {
	planned := &Ledger{Version: formatVersion, Run: &Run{Number: 7, Pools: []RunPool{{UID: "uid-1"}}}, Pools: []Pool{
		{UID: "uid-1", Removal: Withdrawing}, {UID: "uid-2", Removal: Withdrawing},
	}}
	settled := Settle(planned, Facts{})
	if settled.Pools[0].Removal != Withdrawing || settled.Pools[1].Removal != Withdrawn {
		t.Errorf("while the run goes on: %s, %s", settled.Pools[0].Removal, settled.Pools[1].Removal)
	}
	settled.Run = nil
	if again := Settle(settled, Facts{}); again.Pools[0].Removal != Withdrawn {
		t.Errorf("after the run: %s", again.Pools[0].Removal)
	}
}
