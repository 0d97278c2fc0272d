package designate

import (
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// page is what one page of a listing says of itself.
type page struct {
	// records is how many it has.
	records int
	// more says that it links to a page after it, which begins after the record that next names.
	more bool
	next string
	// counted says that it tells how many records the whole listing has, and total how many.
	counted bool
	total   int
}

// decodePage reads one page and hands each record on as it comes, so that a page of any size takes no more memory than a
// record. What has been handed on counts only if there is no error in the end.
func decodePage[T any](body io.Reader, collection string, each func(T) error) (page, error) {
	d := &pageDecoder{Decoder: answers.NewDecoder(body), seen: map[string]bool{}}
	err := d.decode(collection, func() error { return decodeRecords(d, each) })
	if _, stopped := errors.AsType[stoppedError](err); stopped {
		return d.page, err
	}
	return d.page, d.Cause(err)
}

type pageDecoder struct {
	*answers.Decoder
	page page
	// seen are the members of the page that were read so far.
	seen map[string]bool
}

// decode reads a whole page. records reads the list of them.
func (d *pageDecoder) decode(collection string, records func() error) error {
	if err := d.Expect('{'); err != nil {
		return err
	}
	for d.More() {
		if err := d.member(collection, records); err != nil {
			return err
		}
	}
	if err := d.Expect('}'); err != nil {
		return err
	}
	if err := d.End(); err != nil {
		return err
	}
	for _, name := range []string{collection, "links"} {
		if !d.seen[name] {
			return answers.MalformedError(fmt.Sprintf("the page has no %q", name))
		}
	}
	return nil
}

// member reads one member of a page.
func (d *pageDecoder) member(collection string, records func() error) error {
	name, err := d.Name()
	if err != nil {
		return err
	}
	var read func() error
	switch name {
	case collection:
		read = records
	case "links":
		read = d.links
	case "metadata":
		read = d.metadata
	default:
		return d.Skip()
	}
	if d.seen[name] {
		return answers.MalformedError(fmt.Sprintf("the page has %q twice", name))
	}
	d.seen[name] = true
	return read()
}

// decodeRecords reads the list of records.
func decodeRecords[T any](d *pageDecoder, each func(T) error) error {
	if err := d.Expect('['); err != nil {
		return err
	}
	for d.More() {
		var record T
		if err := d.Decode(&record); err != nil {
			return err
		}
		d.page.records++
		if err := each(record); err != nil {
			return err
		}
	}
	return d.Expect(']')
}

// links reads whether there is a page after this one. Of the link only the marker counts: its host, and the path in front
// of /v2, are Designate's own idea of itself, which a proxy in front of it does not share.
func (d *pageDecoder) links() error {
	var links *struct {
		Next *string `json:"next"`
	}
	if err := d.Decode(&links); err != nil {
		return err
	}
	if links == nil {
		return answers.MalformedError("the links of the page are null")
	}
	if links.Next == nil {
		return nil
	}
	next, err := url.Parse(*links.Next)
	if err != nil {
		return answers.MalformedError("the link to the next page is not a URL")
	}
	d.page.more, d.page.next = true, next.Query().Get("marker")
	return nil
}

// metadata reads how many records there are on all pages.
func (d *pageDecoder) metadata() error {
	var metadata struct {
		TotalCount *int `json:"total_count"`
	}
	if err := d.Decode(&metadata); err != nil {
		return err
	}
	if metadata.TotalCount != nil {
		d.page.counted, d.page.total = true, *metadata.TotalCount
	}
	return nil
}
