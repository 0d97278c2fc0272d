// Package designate speaks with one Designate through its API (version 2, https://docs.openstack.org/api-ref/dns/).
//
// Doubt is an error here: what comes back without one is the whole answer. Errors are of type *Error, whose Kind says what
// a caller can do about it.
package designate

import "time"

// ActionDelete is the action of a zone that is being deleted. It is still there.
const ActionDelete = "DELETE"

// Zone is a zone of any project. Which states there are: PENDING, ACTIVE and ERROR, each with the action CREATE, UPDATE,
// DELETE or NONE. A zone that has been deleted is not listed any more.
type Zone struct {
	ID        string
	Name      string
	PoolID    string
	ProjectID string
	// Type is PRIMARY or SECONDARY.
	Type string
	// Status and Action are the two halves of the zone's state.
	Status, Action string
	// Attributes are those that the zone asks for a pool with.
	Attributes map[string]string
	Serial     int64
	CreatedAt  time.Time
	// TransferredAt is when a SECONDARY zone was last transferred from its own primaries; zero when it never was, and of
	// PRIMARY zones.
	TransferredAt time.Time
}

// Pool is a pool as Designate has it. Its API tells nothing of the pool's servers.
type Pool struct {
	ID         string
	Name       string
	Attributes map[string]string
	// CreatedAt is by Designate's clock.
	CreatedAt time.Time
}

// TSIGKey is a key with which mdns and a pool's servers sign zone transfers (RFC 8945).
type TSIGKey struct {
	// ID is given by Designate.
	ID        string
	Name      string
	Algorithm string
	// Secret in base64.
	Secret string
	// PoolID is the pool that the key is for: scope POOL and its resource_id.
	PoolID string
}
