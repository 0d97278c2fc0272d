package designate

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

var allTSIGKeys = listing{operation: opListTSIGKeys, collection: "tsigkeys", sortKey: "id"}

// poolScope is the scope of a key that signs the transfers of one pool.
const poolScope = "POOL"

type wireTSIGKey struct {
	ID         string `json:"id,omitempty"`
	Name       string `json:"name"`
	Algorithm  string `json:"algorithm"`
	Secret     string `json:"secret"`
	Scope      string `json:"scope"`
	ResourceID string `json:"resource_id"`
}

func (w wireTSIGKey) record() (TSIGKey, place, error) {
	if w.ID == "" || w.Name == "" {
		return TSIGKey{}, place{}, answers.MalformedError("a TSIG key without id or name")
	}
	key := TSIGKey{ID: w.ID, Name: w.Name, Algorithm: w.Algorithm, Secret: w.Secret}
	if w.Scope == poolScope {
		key.PoolID = w.ResourceID
	}
	return key, place{id: w.ID}, nil
}

// TSIGKeys lists all TSIG keys, sorted by id. One that is not for a pool has an empty PoolID.
func (c *Client) TSIGKeys(ctx context.Context) ([]TSIGKey, error) {
	return whole[wireTSIGKey, TSIGKey](ctx, c, allTSIGKeys)
}

// CreateTSIGKey registers a key for a pool, which need not exist yet, and returns it with its id. The error is
// AlreadyExists when there is one of that name, whatever its secret and its pool. After an error without an answer it may
// have been registered all the same.
func (c *Client) CreateTSIGKey(ctx context.Context, key TSIGKey) (TSIGKey, error) {
	var created TSIGKey
	options := gophercloud.RequestOpts{OkCodes: []int{http.StatusCreated}, JSONBody: wireTSIGKey{
		Name: key.Name, Algorithm: key.Algorithm, Secret: key.Secret, Scope: poolScope, ResourceID: key.PoolID,
	}}
	err := c.request(ctx, opCreateTSIGKey, http.MethodPost, allTSIGKeys.collection, options, func(body io.Reader) error {
		var w wireTSIGKey
		if err := json.NewDecoder(body).Decode(&w); err != nil {
			return answers.CutOff(err)
		}
		var err error
		created, _, err = w.record()
		return err
	})
	return created, err
}

// DeleteTSIGKey removes a key by its id. The error is NotFound when there is none.
func (c *Client) DeleteTSIGKey(ctx context.Context, id string) error {
	return c.remove(ctx, opDeleteTSIGKey, allTSIGKeys.collection, id)
}
