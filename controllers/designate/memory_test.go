package designate

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// many answers listings of so many zones, of which it keeps none.
func many(total int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		first := 0
		if marker := r.URL.Query().Get("marker"); marker != "" {
			last, _ := strconv.Atoi(marker)
			first = last + 1
		}
		fmt.Fprint(w, `{"zones": [`)
		end := min(first+limit, total)
		for i := first; i < end; i++ {
			fmt.Fprintf(w, `{"id": "%010d", "name": "z%d.example.org.", "pool_id": "p", "status": "ACTIVE", "description": %q}%s`,
				i, i, strings.Repeat("x", 160), strings.Repeat(",", min(1, end-1-i)))
		}
		fmt.Fprint(w, `], "links": {`)
		if end-first == limit {
			fmt.Fprintf(w, `"next": "http://h/v2/zones?marker=%010d"`, end-1)
		}
		fmt.Fprintf(w, `}, "metadata": {"total_count": %d}}`, total)
	}
}

func TestAListingTakesTheSameMemoryWhateverTheNumberOfZones(t *testing.T) {
	heapAfter := func(total int) uint64 {
		c := connected(t, Access{Endpoint: serve(t, many(total)).URL}, Limits{})
		seen := 0
		var stats runtime.MemStats
		wantKind(t, c.EachZone(t.Context(), func(Zone) error {
			seen++
			if seen == total {
				runtime.GC()
				runtime.ReadMemStats(&stats)
			}
			return nil
		}), "")
		if seen != total {
			t.Fatalf("%d zones of %d", seen, total)
		}
		return stats.HeapAlloc
	}
	heapAfter(100)
	few, most := heapAfter(100), heapAfter(50_000)
	t.Logf("%d bytes in use at the end of 100 zones, %d at the end of 50,000", few, most)
	if most > few+1<<20 {
		t.Errorf("%d bytes more for more zones", most-few)
	}
}
