package statistics

import (
	"fmt"
	"io"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// defaultView is the view that named.conf has when it names none.
const defaultView = "_default"

// own are the types of zones: true for those that a server answers for by itself. Older versions of BIND call primary and
// secondary master and slave, and builtin is what each makes by itself.
var own = map[string]bool{
	"primary": true, "master": true, "secondary": true, "slave": true,
	"builtin": false, "mirror": false, "stub": false, "static-stub": false, "redirect": false, "key": false, "dlz": false, "none": false,
}

// Decode reads an answer of BIND's statistics channel, and keeps nothing of it but the zones.
func Decode(body io.Reader) (*Zones, error) {
	d := decoder{Decoder: answers.NewDecoder(body), zones: &Zones{}}
	if err := d.answer(); err != nil {
		return nil, d.Cause(err)
	}
	if d.zones.list.sort() > 0 {
		return nil, answers.MalformedError("a zone comes twice")
	}
	return d.zones, nil
}

type decoder struct {
	*answers.Decoder
	zones *Zones
}

// answer reads the whole answer.
func (d *decoder) answer() error {
	if err := d.only("views", true, d.views); err != nil {
		return err
	}
	return d.End()
}

func (d *decoder) views() error { return d.only(defaultView, true, d.view) }

// view reads a view. One without zones does not tell any list.
func (d *decoder) view() error { return d.only("zones", false, d.list) }

// only reads an object, of whose members one matters.
func (d *decoder) only(member string, needed bool, read func() error) error {
	if err := d.Expect('{'); err != nil {
		return err
	}
	seen := false
	for d.More() {
		name, err := d.Name()
		switch {
		case err != nil:
		case name != member:
			err = d.Skip()
		case seen:
			err = answers.MalformedError(fmt.Sprintf("the answer has %q twice", member))
		default:
			seen = true
			err = read()
		}
		if err != nil {
			return err
		}
	}
	if err := d.Expect('}'); err != nil {
		return err
	}
	if needed && !seen {
		return answers.MalformedError(fmt.Sprintf("the answer has no %q", member))
	}
	return nil
}

// list reads the list of zones.
func (d *decoder) list() error {
	if err := d.Expect('['); err != nil {
		return err
	}
	for d.More() {
		if err := d.zone(); err != nil {
			return err
		}
	}
	return d.Expect(']')
}

// wireZone is a zone as BIND tells it.
type wireZone struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Type  string `json:"type"`
	// Serial is missing while the zone is not loaded.
	Serial *uint32 `json:"serial"`
}

// zone reads one zone.
func (d *decoder) zone() error {
	var zone wireZone
	if err := d.Decode(&zone); err != nil {
		return err
	}
	ours, known := own[zone.Type]
	switch {
	case zone.Class == "":
		return answers.MalformedError("a zone without a class")
	case !known:
		return answers.MalformedError("a zone without a type, or of one that is not known")
	case !ours || zone.Class != "IN":
		return nil
	}
	var serial uint32
	var marks marks
	if zone.Serial != nil {
		serial, marks = *zone.Serial, hasSerial
	}
	return d.zones.list.add(zone.Name, serial, marks)
}
