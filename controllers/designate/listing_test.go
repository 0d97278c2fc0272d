package designate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestEveryZoneIsListedOnceWhateverTheNumberOfPages(t *testing.T) {
	for count := range 6 {
		server := &designate{zones: zonesUpTo(count)}
		c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient)
		got, err := names(t, c)
		wantKind(t, err, "")
		var want []string
		for i := range count {
			want = append(want, fmt.Sprintf("z%d.example.org.", i))
		}
		diff(t, want, got)
		if want := count/patient.PageSize + 1; len(server.requests) != want {
			t.Errorf("%d zones took %d requests, want %d", count, len(server.requests), want)
		}
	}
}

func TestAZoneIsReadWhole(t *testing.T) {
	server := &designate{zones: zonesUpTo(1)}
	server.zones[0]["type"], server.zones[0]["transferred_at"] = "SECONDARY", "2026-12-01T00:00:01.000000"
	c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL + "/v2"}, patient)
	err := c.EachZone(t.Context(), func(got Zone) error {
		diff(t, Zone{
			ID: "00000000-0000-4000-8000-000000000000", Name: "z0.example.org.", PoolID: "pool", ProjectID: "project", Type: "SECONDARY",
			Status: "ACTIVE", Action: "NONE", Serial: 1796085260, Attributes: map[string]string{"tier": "gold"},
			CreatedAt: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), TransferredAt: time.Date(2026, 12, 1, 0, 0, 1, 0, time.UTC),
		}, got)
		return nil
	})
	wantKind(t, err, "")
	diff(t, []string{"GET /v2/zones?all_projects=true&limit=2&sort_dir=asc&sort_key=created_at"}, server.requests)
}

func TestAPageAfterTheFirstIsAskedForAtOurOwnEndpoint(t *testing.T) {
	server := &designate{zones: zonesUpTo(3)}
	c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL + "/behind/a/proxy/"}, patient)
	_, err := names(t, c)
	wantKind(t, err, "")
	diff(t, []string{
		"GET /behind/a/proxy/v2/zones?all_projects=true&limit=2&sort_dir=asc&sort_key=created_at",
		"GET /behind/a/proxy/v2/zones?all_projects=true&limit=2&marker=00000001-0000-4000-8000-000000000000&sort_dir=asc&sort_key=created_at",
	}, server.requests)
}

func TestAListingThatCannotBeWholeIsAnError(t *testing.T) {
	for name, alter := range map[string]func(number int, page map[string]any){
		"the second page is the first once more": func(number int, page map[string]any) {
			if number == 2 {
				page["zones"] = zonesUpTo(2)
			}
		},
		"every page is the first one, link and all": func(_ int, page map[string]any) {
			page["zones"] = zonesUpTo(2)
			page["links"] = map[string]any{"next": "/v2/zones?marker=" + zone(1)["id"].(string)}
		},
		"the third page is the first one": func(number int, page map[string]any) {
			if number == 3 {
				page["zones"] = zonesUpTo(2)
				page["links"] = map[string]any{"next": "/v2/zones?marker=" + zone(1)["id"].(string)}
			}
		},
		"a page links to itself": func(_ int, page map[string]any) {
			page["links"] = map[string]any{"next": "http://designate.invalid/v2/zones?limit=2"}
		},
		"an empty page links to itself": func(number int, page map[string]any) {
			if number > 1 {
				page["zones"] = []any{}
				page["links"] = map[string]any{"next": "/v2/zones?marker=" + zone(1)["id"].(string)}
			}
		},
		"the link to the second page is missing, and a zone on the first": func(number int, page map[string]any) {
			if number == 1 {
				page["zones"], page["links"] = zonesUpTo(1), map[string]any{}
			}
		},
		"the last page lacks its zones": func(number int, page map[string]any) {
			if number == 3 {
				page["zones"] = []any{}
			}
		},
		"a zone is missing in the middle": func(number int, page map[string]any) {
			if number == 2 {
				page["zones"] = page["zones"].([]map[string]any)[1:]
			}
		},
		"the zones are missing":   func(_ int, page map[string]any) { delete(page, "zones") },
		"the zones are null":      func(_ int, page map[string]any) { page["zones"] = nil },
		"the zones are an object": func(_ int, page map[string]any) { page["zones"] = map[string]any{} },
		"a zone is null":          func(_ int, page map[string]any) { only(page, nil) },
		"a zone has no pool":      func(_ int, page map[string]any) { only(page, without("pool_id")) },
		"a zone has no id":        func(_ int, page map[string]any) { only(page, without("id")) },
		"a zone has no name":      func(_ int, page map[string]any) { only(page, without("name")) },
		"a zone has no status":    func(_ int, page map[string]any) { only(page, without("status")) },
		"a zone has a time like no other": func(_ int, page map[string]any) {
			zone := zone(0)
			zone["created_at"] = secret
			only(page, zone)
		},
		"a zone was transferred at a time like no other": func(_ int, page map[string]any) {
			zone := zone(0)
			zone["transferred_at"] = secret
			only(page, zone)
		},
		"the links are missing":      func(_ int, page map[string]any) { delete(page, "links") },
		"the links are null":         func(_ int, page map[string]any) { page["links"] = nil },
		"the number is missing":      func(_ int, page map[string]any) { delete(page, "metadata") },
		"the number is not a number": func(_ int, page map[string]any) { page["metadata"] = map[string]any{"total_count": secret} },
	} {
		t.Run(name, func(t *testing.T) {
			server := &designate{zones: zonesUpTo(5), alter: alter}
			c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient)
			_, err := names(t, c)
			wantKind(t, err, Malformed)
			if len(server.requests) > 3 {
				t.Errorf("noticed only after %d requests", len(server.requests))
			}
		})
	}
}

// only makes a page all there is, with one zone.
func only(page, zone map[string]any) {
	page["zones"], page["links"], page["metadata"] = []any{zone}, map[string]any{}, map[string]any{"total_count": 1}
}

// without is a zone that lacks something.
func without(member string) map[string]any {
	zone := zone(0)
	delete(zone, member)
	return zone
}

func TestAPageOfOneZoneAloneIsWhole(t *testing.T) {
	server := &designate{zones: zonesUpTo(5), alter: func(_ int, page map[string]any) { only(page, zone(0)) }}
	got, err := names(t, connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient))
	wantKind(t, err, "")
	diff(t, []string{"z0.example.org."}, got)
}

func TestZonesThatAreDeletedMeanwhileAreNotMissed(t *testing.T) {
	server := &designate{zones: zonesUpTo(7)}
	server.alter = func(int, map[string]any) { server.zones = zonesUpTo(3) }
	got, err := names(t, connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient))
	wantKind(t, err, "")
	diff(t, []string{"z0.example.org.", "z1.example.org.", "z2.example.org."}, got)
}

func TestZonesThatComeAndGoMeanwhileAreNoError(t *testing.T) {
	server := &designate{zones: zonesUpTo(5)}
	server.alter = func(number int, _ map[string]any) {
		switch number {
		case 1: // One that was listed, and one that was not yet.
			server.zones = []map[string]any{zone(1), zone(2), zone(4)}
		case 2:
			server.zones = append(server.zones, zone(7), zone(8))
		}
	}
	c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient)
	got, err := names(t, c)
	wantKind(t, err, "")
	diff(t, []string{"z0.example.org.", "z1.example.org.", "z2.example.org.", "z4.example.org.", "z7.example.org.", "z8.example.org."}, got)
}

func TestTheCallersErrorEndsAListing(t *testing.T) {
	server := &designate{zones: zonesUpTo(5)}
	c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient)
	enough := errors.New("enough")
	if err := c.EachZone(t.Context(), func(Zone) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if len(server.requests) != 1 {
		t.Errorf("it went on: %q", server.requests)
	}
}

func TestACallerThatGivesUpIsToldSo(t *testing.T) {
	server := &designate{zones: zonesUpTo(5)}
	c := connected(t, Access{Endpoint: serve(t, server.ServeHTTP).URL}, patient)
	ctx, cancel := context.WithCancel(t.Context())
	err := c.EachZone(ctx, func(Zone) error {
		cancel()
		return nil
	})
	wantKind(t, err, Unreachable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
}

func TestPoolsAreListedByIDForTheDefaultPoolHasNoTime(t *testing.T) {
	var asked []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		switch r.URL.Query().Get("marker") {
		case "":
			fmt.Fprint(w, `{"pools": [{"id": "a", "name": "one", "created_at": "2026-12-01T00:34:19.000000"},
				{"id": "b", "name": "default", "attributes": {"tier": "gold"}, "created_at": null}], "links": {"next": "http://x/v2/pools?marker=b"}}`)
		case "b":
			fmt.Fprint(w, `{"pools": [], "links": {}}`)
		}
	})
	got, err := connected(t, Access{Endpoint: server.URL}, patient).Pools(t.Context())
	wantKind(t, err, "")
	diff(t, []Pool{
		{ID: "a", Name: "one", CreatedAt: time.Date(2026, 12, 1, 0, 34, 19, 0, time.UTC)},
		{ID: "b", Name: "default", Attributes: map[string]string{"tier": "gold"}},
	}, got)
	diff(t, []string{"/v2/pools?all_projects=true&limit=2&sort_dir=asc&sort_key=id", "/v2/pools?all_projects=true&limit=2&marker=b&sort_dir=asc&sort_key=id"}, asked)
}

func TestAFullPageWithoutALinkIsNotTakenForTheLast(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("marker") == "" {
			fmt.Fprint(w, `{"pools": [{"id": "a", "name": "one"}, {"id": "b", "name": "two"}], "links": {}}`)
			return
		}
		fmt.Fprint(w, `{"pools": [{"id": "c", "name": "three"}], "links": {}}`)
	})
	got, err := connected(t, Access{Endpoint: server.URL}, patient).Pools(t.Context())
	wantKind(t, err, "")
	if len(got) != 3 {
		t.Errorf("got %v", got)
	}
}
