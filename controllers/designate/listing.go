package designate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// listing is one way of listing all records of a collection.
//
// It follows no link: each page is asked for at our own endpoint, to begin after the last record of the page before.
// Designate sorts, so the order of the records tells whether one came twice: pages that go round in circles end at once,
// and nothing of them has to be remembered.
type listing struct {
	operation  string
	collection string
	// sortKey is what Designate sorts by, and by the id where that is the same.
	sortKey string
	// counted says that Designate tells how many records there are.
	counted bool
}

// path is that of the page after a record; of the first page when there is none.
func (l listing) path(limit int, after string) string {
	query := url.Values{"limit": {strconv.Itoa(limit)}, "sort_key": {l.sortKey}, "sort_dir": {"asc"}, allProjects: {"true"}}
	if after != "" {
		query.Set("marker", after)
	}
	return l.collection + "?" + query.Encode()
}

// wire is a record as Designate writes it; it becomes one of ours, with its place in the order that was asked for.
type wire[R any] interface {
	record() (R, place, error)
}

// place is where a record is in an order. created is zero where the order is that of the ids.
type place struct {
	created time.Time
	id      string
}

func (p place) compare(other place) int {
	return cmp.Or(p.created.Compare(other.created), strings.Compare(p.id, other.id))
}

// list hands on every record there is, or returns an error: then, what it has handed on is not all there is.
func list[W wire[R], R any](ctx context.Context, c *Client, l listing, each func(R) error) error {
	walk := walk{listing: l, limit: c.limits.PageSize, fewest: -1}
	for !walk.done {
		read := func(body io.Reader) error {
			page, err := decodePage(body, l.collection, func(w W) error {
				record, place, err := w.record()
				if err != nil {
					return err
				}
				if err := walk.advance(place); err != nil {
					return err
				}
				if err := each(record); err != nil {
					return stoppedError{err}
				}
				return nil
			})
			if err != nil {
				return err
			}
			return walk.turn(page)
		}
		options := gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}}
		if err := c.request(ctx, l.operation, http.MethodGet, l.path(walk.limit, walk.last.id), options, read); err != nil {
			return err
		}
	}
	return nil
}

// walk is how far a listing has come.
type walk struct {
	listing listing
	limit   int
	records int
	last    place
	// fewest is the smallest number of records in all that any page has told; -1 while none has. Zones that are deleted
	// meanwhile make it smaller, and those made meanwhile sort last.
	fewest int
	done   bool
}

// advance goes to the next record.
func (w *walk) advance(to place) error {
	if w.records > 0 && w.last.compare(to) >= 0 {
		return answers.MalformedError("records come twice, or in another order than was asked for")
	}
	w.records++
	w.last = to
	return nil
}

// turn ends a page.
func (w *walk) turn(p page) error {
	switch {
	case p.more && p.records == 0:
		return answers.MalformedError("an empty page links to another one")
	case p.more && p.next != w.last.id:
		return answers.MalformedError("the link to the next page does not begin where the page ends")
	case w.listing.counted && !p.counted:
		return answers.MalformedError("the page does not tell how many records there are")
	}
	if p.counted && (w.fewest < 0 || p.total < w.fewest) {
		w.fewest = p.total
	}
	w.done = p.last(w.limit)
	if w.done && w.records < w.fewest {
		return answers.MalformedError(fmt.Sprintf("incomplete: %d records of at least %d", w.records, w.fewest))
	}
	return nil
}

// last says that nothing comes after a page. A full one may be followed by another even if it does not say so.
func (p page) last(limit int) bool { return !p.more && p.records < limit }
