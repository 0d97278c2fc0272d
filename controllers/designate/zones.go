package designate

import (
	"context"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// allZones lists by time of creation, so that zones that are made meanwhile come last and cannot make up for missing ones.
var allZones = listing{operation: opListZones, collection: "zones", sortKey: "created_at", counted: true}

type wireZone struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	PoolID     string            `json:"pool_id"`
	ProjectID  string            `json:"project_id"`
	Type       string            `json:"type"`
	Status     string            `json:"status"`
	Action     string            `json:"action"`
	Serial     int64             `json:"serial"`
	Attributes map[string]string `json:"attributes"`
	CreatedAt  string            `json:"created_at"`
	// TransferredAt is null until it happens.
	TransferredAt string `json:"transferred_at"`
}

func (w wireZone) record() (Zone, place, error) {
	if w.ID == "" || w.Name == "" || w.PoolID == "" || w.Status == "" {
		return Zone{}, place{}, answers.MalformedError("a zone without id, name, pool_id or status")
	}
	created, err := timestamp(w.CreatedAt)
	if err != nil {
		return Zone{}, place{}, err
	}
	transferred, err := timestamp(w.TransferredAt)
	return Zone{
		ID: w.ID, Name: w.Name, PoolID: w.PoolID, ProjectID: w.ProjectID, Type: w.Type, Status: w.Status, Action: w.Action,
		Attributes: w.Attributes, Serial: w.Serial, CreatedAt: created, TransferredAt: transferred,
	}, place{created, w.ID}, err
}

// EachZone calls each for every zone of all projects, page by page. Only without an error have these been all zones. An
// error of each ends the listing and is returned as it is. The connection is held open meanwhile: each must be quick.
func (c *Client) EachZone(ctx context.Context, each func(Zone) error) error {
	return list[wireZone](ctx, c, allZones, each)
}

// timestamp reads a time as Designate writes it: in UTC, without saying so. It is zero where there is none.
func timestamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, answers.MalformedError("what should be a time is none")
}
