package answers

import (
	"encoding/json"
	"errors"
	"io"
)

// maxValue is how many bytes a decoder keeps of what it has not understood yet: a record at most, whatever the answer has
// in all.
const maxValue = 1 << 20

// Decoder reads a JSON answer of any size piece by piece.
type Decoder struct {
	*json.Decoder
	source *source
}

// NewDecoder reads a body.
func NewDecoder(body io.Reader) *Decoder {
	s := &source{reader: body}
	d := &Decoder{Decoder: json.NewDecoder(s), source: s}
	s.consumed = d.InputOffset
	return d
}

// Expect reads what must come next.
func (d *Decoder) Expect(delimiter json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != delimiter {
		return MalformedError("the answer is JSON of another form than it should have")
	}
	return nil
}

// Name reads the name of the next member of an object.
func (d *Decoder) Name() (string, error) {
	token, err := d.Token()
	// In an object, nothing but a text is taken for a name.
	name, _ := token.(string)
	return name, err
}

// Skip reads a value that does not matter, and keeps none of it.
func (d *Decoder) Skip() error {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End reads the end of the answer.
func (d *Decoder) End() error {
	_, err := d.Token()
	if errors.Is(err, io.EOF) && d.source.err == nil {
		return nil
	}
	return errors.Join(err, MalformedError("something follows the end of the answer"))
}

// Cause is why decoding failed: what came before a body that breaks may look like an error of another kind.
func (d *Decoder) Cause(err error) error {
	if d.source.err != nil {
		return d.source.err
	}
	return CutOff(err)
}

// CutOff is an end that came too soon, which a decoder tells as an end like any other when it falls between two values.
func CutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// source remembers why reading failed.
type source struct {
	reader io.Reader
	// read is how many bytes have been, and consumed how many of them the decoder has understood.
	read     int64
	consumed func() int64
	err      error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	s.read += int64(n)
	if s.read-s.consumed() > maxValue {
		err = ErrTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
