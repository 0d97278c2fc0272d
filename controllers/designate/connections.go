package designate

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Connections keep one client for each namespace, so that not every listing begins with a new token.
type Connections struct {
	reader client.Reader
	limits Limits

	mu          sync.Mutex
	byNamespace map[string]*connection
}

// connection is what a namespace has. Whoever holds turn may use the rest: a namespace whose Keystone is slow keeps nobody
// else waiting.
type connection struct {
	turn   chan struct{}
	access Access
	client *Client
}

// NewConnections makes connections from what reader says, which must not be a cache.
func NewConnections(reader client.Reader, limits Limits) *Connections {
	return &Connections{reader: reader, limits: limits, byNamespace: map[string]*connection{}}
}

// Client is the client for a DesignateBackend: the one from before while what is configured is the same and its
// credentials have not been refused. So a changed password or a role that was missing is taken up by itself, whichever of
// Keystone and the Secret comes first. The error is that of AccessOf or Connect.
func (c *Connections) Client(ctx context.Context, backend *v1alpha1.DesignateBackend) (*Client, error) {
	access, err := AccessOf(ctx, c.reader, backend)
	if err != nil {
		if KindOf(err) == Unusable {
			c.Forget(backend.Namespace)
		}
		return nil, err
	}
	of := c.of(backend.Namespace)
	select {
	case of.turn <- struct{}{}:
		defer func() { <-of.turn }()
	case <-ctx.Done():
		return nil, failure(ctx, opAuthenticate, ctx.Err())
	}
	if of.client != nil && !of.client.refused.Load() && of.access.Equal(access) {
		return of.client, nil
	}
	of.drop()
	connected, err := Connect(ctx, access, c.limits)
	if err != nil {
		return nil, err
	}
	of.access, of.client = access, connected
	return connected, nil
}

// Forget drops what is kept for a namespace. A client that is in use goes on to the end of its call.
func (c *Connections) Forget(namespace string) {
	c.mu.Lock()
	of := c.byNamespace[namespace]
	delete(c.byNamespace, namespace)
	c.mu.Unlock()
	if of == nil {
		return
	}
	select {
	case of.turn <- struct{}{}:
		of.drop()
		<-of.turn
	default:
		// Whoever has the turn is connecting, and uses what comes of it alone.
	}
}

func (c *Connections) of(namespace string) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byNamespace[namespace] == nil {
		c.byNamespace[namespace] = &connection{turn: make(chan struct{}, 1)}
	}
	return c.byNamespace[namespace]
}

// drop lets go of a client and of the credentials it had.
func (c *connection) drop() {
	if c.client != nil {
		c.client.Close()
	}
	c.access, c.client = Access{}, nil
}
