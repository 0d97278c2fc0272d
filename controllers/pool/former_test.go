package pool

import (
	"slices"
	"testing"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// A former server keeps its configuration, its key and its Services, and is the one that its client Service leads to, until the present
// one has joined.
func TestFormerServersKeepWhatTheyHave(t *testing.T) {
	s := healthy()
	s.entry.Index, s.entry.Name = 0, v1alpha1.DefaultPoolName
	s.entry.Servers[1].Joined = false
	s.entry.Former = &ledger.Former{Mode: v1alpha1.SinglePool, Servers: []ledger.Server{
		{Ordinal: 0, RNDCKey: 3, Address: "10.96.9.0", Joined: true}, {Ordinal: 1, RNDCKey: 4, Address: "10.96.9.1", Joined: true},
		{Ordinal: 2, RNDCKey: 9, Address: "10.96.9.2"},
	}}
	pool := s.builderPool()
	var servers, clients []string
	for _, server := range pool.Servers {
		servers = append(servers, server.Pod())
	}
	for _, server := range pool.Clients() {
		clients = append(clients, server.Pod())
	}
	const single, multi = "designate-backendbind9-", "designate-backendbind9-pool0-"
	if want := []string{multi + "0", multi + "1", single + "0", single + "1", single + "2"}; !slices.Equal(servers, want) {
		t.Errorf("servers %v, want %v", servers, want)
	}
	if want := []string{multi + "0", single + "1", single + "2"}; !slices.Equal(clients, want) {
		t.Errorf("clients are led to %v, want %v", clients, want)
	}
	s.keys = map[string][]byte{}
	if _, missing := s.serverKeys(); !slices.Contains(missing, "rndc-key-9") {
		t.Errorf("the keys %v are missing, and that of a former server is not among them", missing)
	}
}
