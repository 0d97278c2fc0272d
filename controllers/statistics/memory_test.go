package statistics

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// nameOf is a name of 30 bytes, in no order.
func nameOf(i int) string { return fmt.Sprintf("zone-%06d.tenant.example.org", (i*7919)%1_000_000) }

// answerOf is an answer of so many zones, as BIND lays it out, written as it is read.
func answerOf(total int) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, "{\n  \"views\":{\n    \"_default\":{\n      \"zones\":[\n")
		for i := range total {
			_, _ = fmt.Fprintf(writer, "        {\n          \"name\":%q,\n          \"class\":\"IN\",\n          \"serial\":1796095725,\n"+
				"          \"type\":\"secondary\",\n          \"loaded\":\"2026-12-01T03:19:48Z\",\n          \"expires\":\"2026-12-02T03:19:48Z\",\n"+
				"          \"refresh\":\"2026-12-01T04:19:48Z\"\n        }%s\n", nameOf(i), strings.Repeat(",", min(1, total-1-i)))
		}
		_, _ = io.WriteString(writer, "      ]\n    }\n  }\n}")
		writer.Close()
	}()
	return reader
}

func wantedUpTo(tb testing.TB, total int) *Wanted {
	tb.Helper()
	var builder WantedBuilder
	for i := range total {
		zone := zoneIn(nameOf(i)+".", "ACTIVE", "NONE", 1796095725)
		if err := builder.Add(&zone); err != nil {
			tb.Fatal(err)
		}
	}
	return builder.Wanted()
}

// size is how much memory a list takes.
func (l *list) size() int { return cap(l.names) + cap(l.entries)*int(unsafe.Sizeof(entry{})) }

func TestZonesTakeLittleMoreThanTheirNames(t *testing.T) {
	const total = 20_000
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	zones, err := Decode(answerOf(total))
	if err != nil {
		t.Fatal(err)
	}
	afterServed := heap()
	wanted := wantedUpTo(t, total)
	afterWanted := heap()
	for side, bytes := range map[string]uint64{"served": afterServed - before, "wanted": afterWanted - afterServed} {
		perZone := float64(bytes) / total
		t.Logf("%s: %.1f bytes a zone", side, perZone)
		if perZone > float64(len(nameOf(0))+1+16)+1 {
			t.Errorf("%s: %.1f bytes a zone", side, perZone)
		}
	}
	if zones.Total() != total || wanted.Total() != total {
		t.Errorf("%d served, %d wanted", zones.Total(), wanted.Total())
	}
	// Else nothing was measured.
	if size := zones.list.size() + wanted.list.size(); afterWanted-before < uint64(size)*9/10 {
		t.Errorf("%d bytes were seen of %d", afterWanted-before, size)
	}
	runtime.KeepAlive(zones)
}

func TestWhatIsNoZoneTakesNoMemory(t *testing.T) {
	junk := io.MultiReader(
		strings.NewReader(`{"more":[0`), io.LimitReader(repeat(`,{"x":"`+strings.Repeat("y", 1000)+`"}`), 16<<20/1009*1009),
		strings.NewReader(`],"views":{"_default":{}}}`),
	)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak, reads := before.HeapAlloc, 0
	watched := readerFunc(func(p []byte) (int, error) {
		reads++
		if reads%200 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
		return junk.Read(p)
	})
	zones, err := Decode(watched)
	wantZones(t, zones, err)
	if reads < 1000 {
		t.Fatalf("%d reads: it was not watched", reads)
	}
	t.Logf("at most %d bytes more", peak-before.HeapAlloc)
	if peak > before.HeapAlloc+4<<20 {
		t.Errorf("%d bytes more", peak-before.HeapAlloc)
	}
}

func BenchmarkDecode(b *testing.B) {
	const total = 100_000
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(answerOf(total)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/total, "ns/zone")
}

// BenchmarkWanted takes the zones of ten pools as a listing tells them, mixed.
func BenchmarkWanted(b *testing.B) {
	const total, pools = 100_000, 10
	zones := make([]designate.Zone, total)
	for i := range zones {
		zones[i] = zoneIn(nameOf(i)+".", "ACTIVE", "NONE", 1796095725)
	}
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		builders := make([]WantedBuilder, pools)
		for i := range zones {
			if err := builders[i%pools].Add(&zones[i]); err != nil {
				b.Fatal(err)
			}
		}
		size = 0
		for i := range builders {
			size += builders[i].Wanted().list.size()
		}
	}
	b.ReportMetric(float64(size)/total, "B/zone")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/total, "ns/zone")
}

func BenchmarkCompare(b *testing.B) {
	const total = 100_000
	zones, err := Decode(answerOf(total))
	if err != nil {
		b.Fatal(err)
	}
	wanted := wantedUpTo(b, total)
	b.ReportAllocs()
	for b.Loop() {
		if d := Compare(zones, wanted); d.Missing.Total+d.Extra.Total+d.Stale.Total != 0 {
			b.Fatal(d)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/total, "ns/zone")
}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// repeat is a text again and again, without end.
func repeat(text string) io.Reader {
	rest := ""
	return readerFunc(func(p []byte) (int, error) {
		if rest == "" {
			rest = text
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})
}
