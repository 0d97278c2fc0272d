package designate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
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
	source := &source{reader: body}
	d := &pageDecoder{Decoder: json.NewDecoder(source), seen: map[string]bool{}}
	err := d.decode(collection, func() error { return decodeRecords(d, each) })
	if source.err != nil {
		err = source.err
	}
	return d.page, cutOff(err)
}

// cutOff is an end that came too soon, which a decoder tells as an end like any other when it falls between two values.
func cutOff(err error) error {
	if _, stopped := errors.AsType[stoppedError](err); !stopped && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// source remembers why reading failed, for a decoder may say something else of what it has read until then.
type source struct {
	reader io.Reader
	err    error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

type pageDecoder struct {
	*json.Decoder
	page page
	// seen are the members of the page that were read so far.
	seen map[string]bool
}

// decode reads a whole page. records reads the list of them.
func (d *pageDecoder) decode(collection string, records func() error) error {
	if err := d.expect('{'); err != nil {
		return err
	}
	for d.More() {
		if err := d.member(collection, records); err != nil {
			return err
		}
	}
	if err := d.expect('}'); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return malformedError("something follows the page")
	}
	for _, name := range []string{collection, "links"} {
		if !d.seen[name] {
			return malformedError(fmt.Sprintf("the page has no %q", name))
		}
	}
	return nil
}

// member reads one member of a page.
func (d *pageDecoder) member(collection string, records func() error) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	var read func() error
	switch name {
	case collection:
		read = records
	case "links":
		read = d.links
	case "metadata":
		read = d.metadata
	default:
		return d.Decode(&json.RawMessage{})
	}
	if d.seen[name] {
		return malformedError(fmt.Sprintf("the page has %q twice", name))
	}
	d.seen[name] = true
	return read()
}

// decodeRecords reads the list of records.
func decodeRecords[T any](d *pageDecoder, each func(T) error) error {
	if err := d.expect('['); err != nil {
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
	return d.expect(']')
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
		return malformedError("the links of the page are null")
	}
	if links.Next == nil {
		return nil
	}
	next, err := url.Parse(*links.Next)
	if err != nil {
		return malformedError("the link to the next page is not a URL")
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

// expect reads what must come next.
func (d *pageDecoder) expect(delimiter json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != delimiter {
		return malformedError("the page is JSON of another form than it should have")
	}
	return nil
}
