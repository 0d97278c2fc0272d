package statistics

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/designate-pools/designate-pool-operator/controllers/answers"
)

// told is an answer of BIND 9.18.49, shortened.
const told = `{
  "json-stats-version":"1.7",
  "boot-time":"2026-12-01T03:21:07.781Z",
  "config-time":"2026-12-01T03:21:07.809Z",
  "current-time":"2026-12-01T03:21:09.802Z",
  "version":"9.18.49-1~deb12u3-Debian",
  "views":{
    "_default":{
      "zones":[
        {"name":"prim.example.org", "class":"IN", "serial":4294967295, "type":"primary", "loaded":"2026-12-01T03:19:48Z"},
        {"name":"EMPTY.AS112.ARPA", "class":"IN", "serial":0, "type":"builtin", "loaded":"2026-12-01T03:21:07Z"},
        {"name":"sec.Example.ORG", "class":"IN", "type":"secondary", "loaded":"1970-01-01T00:00:00Z",
         "expires":"1970-01-01T00:00:00Z", "refresh":"2026-12-01T03:21:54Z"},
        {"name":"mirror.example.org", "class":"IN", "type":"mirror", "loaded":"1970-01-01T00:00:00Z"},
        {"name":"ss.example.org", "class":"IN", "type":"static-stub", "loaded":"1970-01-01T00:00:00Z"},
        {"name":"a/25.example.org", "class":"IN", "serial":0, "type":"secondary", "loaded":"2026-12-01T03:19:48Z"},
        {"name":"b\\.dot.\\195\\188.example.org", "class":"IN", "serial":7, "type":"primary", "loaded":"2026-12-01T03:19:48Z"},
        {"name":"odd\\.", "class":"IN", "serial":8, "type":"primary", "loaded":"2026-12-01T03:19:48Z"},
        {"name":"chaos.example.org", "class":"CH", "serial":1, "type":"primary", "loaded":"2026-12-01T03:19:48Z"},
        {"name":".", "class":"IN", "serial":9, "type":"primary", "loaded":"2026-12-01T03:19:48Z"}
      ]
    },
    "_bind":{
      "zones":[
        {"name":"authors.bind", "class":"CH", "serial":0, "type":"builtin", "loaded":"2026-12-01T03:21:07Z"}
      ]
    }
  }
}`

func TestZonesAreReadAsAServerHasThem(t *testing.T) {
	got, err := ask(t, patient, serve(t, text(told)))
	wantZones(t, got, err,
		Zone{Name: ".", Loaded: true, Serial: 9},
		Zone{Name: "a/25.example.org.", Loaded: true},
		Zone{Name: `b\.dot.\195\188.example.org.`, Loaded: true, Serial: 7},
		Zone{Name: `odd\..`, Loaded: true, Serial: 8},
		Zone{Name: "prim.example.org.", Loaded: true, Serial: 4294967295},
		Zone{Name: "sec.example.org."},
	)
}

func TestAViewWithoutZonesSaysSo(t *testing.T) {
	for name, answer := range map[string]string{
		"as BIND does, without a list": view(""),
		"with an empty list":           zones(),
		"with others alone":            zones(`{"name":"a","class":"CH","type":"secondary"}`, `{"name":"10.in-addr.arpa","class":"IN","type":"builtin","serial":0}`),
		"behind another one":           `{"views":{"other":{"zones":[` + record("a", "1") + `]},"_default":{"more":[{}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, patient, serve(t, text(answer)))
			wantZones(t, got, err)
		})
	}
}

func TestOlderServersCallTypesByOtherNames(t *testing.T) {
	for kind := range own {
		answer := zones(fmt.Sprintf(`{"name":"a","class":"IN","type":%q,"serial":1}`, kind))
		got, err := Decode(strings.NewReader(answer))
		if slices.Contains([]string{"primary", "secondary", "master", "slave"}, kind) {
			wantZones(t, got, err, Zone{Name: "a.", Loaded: true, Serial: 1})
		} else {
			wantZones(t, got, err)
		}
	}
}

func TestAnAnswerThatCannotBeRightIsMalformed(t *testing.T) {
	a := record("a.example.org", "1")
	for name, answer := range map[string]string{
		"nothing":                          "",
		"an empty object":                  "{}",
		"a list":                           "[]",
		"null":                             "null",
		"a text":                           `"` + secret + `"`,
		"HTML":                             "<!doctype html><title>" + secret + "</title>",
		"XML, as BIND has it, too":         `<?xml version="1.0" encoding="UTF-8"?><statistics version="3.11.1">`,
		"an answer of something else":      `{"kind":"Status","code":200,"message":"` + secret + `"}`,
		"no views":                         `{"views":{}}`,
		"views that are null":              `{"views":null}`,
		"views that are a list":            `{"views":[]}`,
		"no default view":                  `{"views":{"_bind":{"zones":[]}}}`,
		"a default view that is elsewhere": `{"views":{"_bind":{"_default":{}}},"_default":{}}`,
		"a default view that is null":      `{"views":{"_default":null}}`,
		"zones that are null":              view(`"zones":null`),
		"zones that are an object":         view(`"zones":{}`),
		"zones that are told twice":        view(`"zones":[],"zones":[]`),
		"views that are told twice":        `{"views":{"_default":{}},"views":{"_default":{}}}`,
		"a default view twice":             `{"views":{"_default":{},"_default":{}}}`,
		"a zone that is null":              zones("null"),
		"a zone that is a text":            zones(`"` + secret + `"`),
		"a zone without a name":            zones(`{"class":"IN","type":"secondary","serial":1}`),
		"a zone whose name is empty":       zones(record("", "1")),
		"a zone whose name is null":        zones(`{"name":null,"class":"IN","type":"secondary","serial":1}`),
		"a zone whose name is too long":    zones(record(strings.Repeat("x", maxName+1), "1")),
		"a zone without a class":           zones(`{"name":"a","type":"secondary","serial":1}`),
		"a zone without a type":            zones(`{"name":"a","class":"IN","serial":1}`),
		"a zone of an unknown type":        zones(`{"name":"a","class":"IN","type":"` + secret + `","serial":1}`),
		"a serial below zero":              zones(record("a", "-1")),
		"a serial of 33 bits":              zones(record("a", "4294967296")),
		"a serial with a fraction":         zones(record("a", "1.5")),
		"a serial that is a text":          zones(record("a", `"1"`)),
		"a zone that comes twice":          zones(a, record("b", "1"), a),
		"a zone twice, in other letters":   zones(a, record("A.Example.org.", "")),
		"something behind the end":         zones(a) + "{}",
		"another answer behind the end":    zones(a) + zones(a),
		"no comma":                         zones(a + a),
		"not closed":                       strings.TrimSuffix(zones(a), "}"),
		"closed once too often":            zones(a) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, patient, serve(t, text(answer)))
			wantError(t, got, err, Malformed)
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		told, zones(record("a", "1"), record("b", "")), view(""), `{"views":{"_default":{"zones":[`, `{"views":{"_default":{}},"views":{}}`, "", "{}", "null", "\x00",
		zones(`{"name":"a","NAME":"b","class":"IN","type":"primary","serial":null}`), zones(record("a", "4294967296")), view("") + "x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Decode(strings.NewReader(text))
		if err != nil {
			if got != nil || answers.Malformation(err) == "" {
				t.Fatalf("%v is not told as malformed", err)
			}
			return
		}
		// What was taken for an answer is one, with all zones that a plain decoder finds.
		var answer, views, view map[string]json.RawMessage
		var all []wireZone
		err = errors.Join(json.Unmarshal([]byte(text), &answer), json.Unmarshal(answer["views"], &views), json.Unmarshal(views["_default"], &view))
		if list, told := view["zones"]; told {
			err = errors.Join(err, json.Unmarshal(list, &all))
		}
		if err != nil {
			t.Fatalf("taken for an answer: %q (%v)", text, err)
		}
		all = slices.DeleteFunc(all, func(zone wireZone) bool { return zone.Class != "IN" || !own[zone.Type] })
		if got.Total() != len(all) {
			t.Fatalf("%d zones of %d in %q", got.Total(), len(all), text)
		}
		last := ""
		for zone := range got.All() {
			if zone.Name <= last || !strings.HasSuffix(zone.Name, ".") {
				t.Fatalf("%q comes after %q", zone.Name, last)
			}
			last = zone.Name
		}
	})
}
