package answers

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSkippingEndsBehindTheValue(t *testing.T) {
	for name, value := range map[string]string{
		"a text":          `"}]"`,
		"a number":        `-1.5e3`,
		"null":            `null`,
		"an empty object": `{}`,
		"an empty list":   `[]`,
		"much of it":      `{"a": [[], {"b": [{}, "]"]}, [1, [true]]], "c": {"d": null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(strings.NewReader("[" + value + `, "next"]`))
			if err := errors.Join(d.Expect('['), d.Skip()); err != nil {
				t.Fatal(err)
			}
			if token, err := d.Token(); token != "next" || err != nil {
				t.Errorf("got %v, %v behind it", token, err)
			}
			if err := errors.Join(d.Expect(']'), d.End()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsSkippedMustBeJSONAndWhole(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want func(error) bool
	}{
		"cut off in a list":    {`{"a": [[1, 2`, isCutOff},
		"cut off in a text":    {`{"a": "b`, isCutOff},
		"cut off behind it":    {`{"a": [1, 2]`, isCutOff},
		"closed by the other":  {`{"a": [1, 2}`, isSyntax},
		"two values in a row":  {`{"a": [1 2]}`, isSyntax},
		"something behind it":  {`{"a": [1, 2]} {}`, isMalformed},
		"garbage behind it":    {`{"a": [1, 2]} <`, isMalformed},
		"something else":       {`[1]`, isMalformed},
		"nothing":              {``, isCutOff},
		"a member without end": {`{"a": "` + strings.Repeat("x", 2*maxValue), isTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(strings.NewReader(test.text))
			err := d.Expect('{')
			if err == nil {
				_, err = d.Name()
			}
			if err == nil {
				err = d.Skip()
			}
			if err == nil {
				err = d.Expect('}')
			}
			if err == nil {
				err = d.End()
			}
			if err = d.Cause(err); !test.want(err) {
				t.Errorf("got %v", err)
			}
			if Malformation(err) == "" {
				t.Errorf("%v is not told as malformed", err)
			}
		})
	}
}

func isCutOff(err error) bool   { return errors.Is(err, io.ErrUnexpectedEOF) }
func isTooLarge(err error) bool { return errors.Is(err, ErrTooLarge) }

func isSyntax(err error) bool {
	_, ok := errors.AsType[*json.SyntaxError](err)
	return ok
}

func isMalformed(err error) bool {
	_, ok := errors.AsType[MalformedError](err)
	return ok
}

func TestAnAnswerOfAnySizeIsReadAsLongAsItsValuesAreSmall(t *testing.T) {
	text := "[" + strings.Repeat(`"`+strings.Repeat("x", maxValue/4)+`",`, 20) + "1]"
	d := NewDecoder(strings.NewReader(text))
	if err := errors.Join(d.Skip(), d.End()); err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}
