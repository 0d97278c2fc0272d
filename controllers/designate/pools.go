package designate

import (
	"context"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// allPools lists by id: the pool default has no created_at, and Designate fails with 500 to go on after it by that.
var allPools = listing{operation: opListPools, collection: "pools", sortKey: "id"}

type wirePool struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Attributes map[string]string `json:"attributes"`
	CreatedAt  string            `json:"created_at"`
}

func (w wirePool) record() (Pool, place, error) {
	if w.ID == "" || w.Name == "" {
		return Pool{}, place{}, answers.MalformedError("a pool without id or name")
	}
	created, err := timestamp(w.CreatedAt)
	return Pool{ID: w.ID, Name: w.Name, Attributes: w.Attributes, CreatedAt: created}, place{id: w.ID}, err
}

// Pools lists all pools, sorted by id. Designate does not tell how many there are: that the list is whole rests on the pages.
func (c *Client) Pools(ctx context.Context) ([]Pool, error) {
	return whole[wirePool, Pool](ctx, c, allPools)
}

// DeletePool removes a pool from Designate. The error is PoolNotEmpty while Designate sees zones in it (those that are
// being deleted do not count there), and NotFound when there is no such pool. After any other error it may be gone or not.
func (c *Client) DeletePool(ctx context.Context, id string) error {
	return c.remove(ctx, opDeletePool, allPools.collection, id)
}

// whole is all of a listing in memory.
func whole[W wire[R], R any](ctx context.Context, c *Client, l listing) ([]R, error) {
	var records []R
	err := list[W](ctx, c, l, func(record R) error {
		records = append(records, record)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}
