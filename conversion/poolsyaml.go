package conversion

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Ports at which a BIND server's control Service answers.
const (
	// DNSPort takes NOTIFY and queries.
	DNSPort = 53
	// RNDCPort takes rndc commands.
	RNDCPort = 953
)

// Address is a host and a port, as pools.yaml has them.
type Address struct {
	Host string
	Port int32
}

// Server is one BIND server of a pool, as Designate reaches it.
type Server struct {
	// Ordinal of the server in its pool.
	Ordinal int32
	// Address of its control Service.
	Address string
	// RNDCKey is the number of its RNDC key.
	RNDCKey int32
}

// Shared is what the servers of all pools have in common.
type Shared struct {
	// Primaries are Designate's mdns servers.
	Primaries []v1alpha1.Primary
	// RNDCKeyDirectory is where Designate's worker sees the key files.
	RNDCKeyDirectory string
}

// Target is one BIND server that Designate's worker drives.
type Target struct {
	// Description of the server, for people.
	Description string
	// Masters are the servers from which BIND transfers zones.
	Masters []Address
	// DNS is where the worker sends NOTIFY and asks for serials.
	DNS Address
	// RNDC is where the worker adds and deletes zones.
	RNDC Address
	// RNDCKeyFile is the path of the key file, as the worker sees it.
	RNDCKeyFile string
}

// PoolEntry is one pool of pools.yaml.
type PoolEntry struct {
	// Name of the pool.
	Name string
	// ID of the pool. When it is empty, Designate looks the pool up by its name.
	ID string
	// Description of the pool.
	Description string
	// Attributes by which Designate's scheduler chooses the pool.
	Attributes map[string]string
	// NSRecords that Designate writes into every zone of the pool.
	NSRecords []v1alpha1.NSRecord
	// Nameservers are asked by Designate's worker whether a change has arrived.
	Nameservers []Address
	// Targets are where the worker makes changes.
	Targets []Target
}

// NewPoolEntry is the entry of a pool with these servers. NS records are sorted by priority and host name, servers by
// ordinal, so their order in the arguments does not show.
func NewPoolEntry(name, id string, settings v1alpha1.PoolSettings, servers []Server, shared Shared) PoolEntry {
	settings = NormalizeSettings(settings)
	slices.SortFunc(settings.NSRecords, func(a, b v1alpha1.NSRecord) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Hostname, b.Hostname))
	})
	servers = slices.SortedFunc(slices.Values(servers), func(a, b Server) int { return cmp.Compare(a.Ordinal, b.Ordinal) })

	entry := PoolEntry{
		Name:        name,
		ID:          id,
		Description: settings.Description,
		Attributes:  settings.Attributes,
		NSRecords:   settings.NSRecords,
	}
	for _, server := range servers {
		entry.Nameservers = append(entry.Nameservers, Address{Host: server.Address, Port: DNSPort})
		entry.Targets = append(entry.Targets, newTarget(server, shared))
	}
	return entry
}

func newTarget(server Server, shared Shared) Target {
	target := Target{
		Description: fmt.Sprintf("BIND9 Server %d (%s)", server.Ordinal, server.Address),
		DNS:         Address{Host: server.Address, Port: DNSPort},
		RNDC:        Address{Host: server.Address, Port: RNDCPort},
		RNDCKeyFile: path.Join(shared.RNDCKeyDirectory, RNDCKeyName(server.RNDCKey)),
	}
	for _, primary := range shared.Primaries {
		target.Masters = append(target.Masters, Address{Host: primary.Address, Port: primary.Port})
	}
	return target
}
