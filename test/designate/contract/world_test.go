package contract

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

type object = map[string]any

const (
	active = "ACTIVE/NONE"
	// patience is for what Designate does in seconds, on a busy machine.
	patience = time.Minute
	// quiet is long enough for what a worker does by itself: it looks for zones to recover every five seconds.
	quiet = 7 * time.Second
)

// newPool is a pool of a name that no other spec has, on some servers, not applied yet. Whatever becomes of it goes after the spec.
func newPool(servers ...running.Server) running.Pool {
	GinkgoHelper()
	name := "p-" + uuid.NewString()[:8]
	pool := stack.PoolOf(name, uuid.NewString(), map[string]string{"pool": name}, servers...)
	DeferCleanup(func(ctx context.Context) {
		Eventually(func() (int, error) { return deletePool(ctx, pool.ID) }).WithTimeout(patience).
			Should(BeElementOf(http.StatusNoContent, http.StatusNotFound))
	})
	return pool
}

// applied is a new pool that zones can be made in: the key of its first server is registered, and the others sign with that, too.
func applied(ctx context.Context, servers ...running.Server) running.Pool {
	GinkgoHelper()
	pool := newPool(servers...)
	apply(ctx, pool)
	registerKey(ctx, pool, servers[0])
	for _, server := range servers[1:] {
		signsLike(ctx, server, servers[0])
	}
	return pool
}

// signsLike has a server sign with the key of another until the end of the spec.
func signsLike(ctx context.Context, server, other running.Server) {
	GinkgoHelper()
	file := filepath.Join(stack.Root, filepath.Dir(running.DesignateConfig), server.Name+".conf")
	before, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	configure := func(ctx context.Context, text string) {
		GinkgoHelper()
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		Expect(stack.Restart(ctx, server.Name)).To(Succeed())
	}
	DeferCleanup(configure, string(before))
	configure(ctx, strings.NewReplacer(server.TSIG.Name, other.TSIG.Name, server.TSIG.Secret, other.TSIG.Secret).Replace(string(before)))
}

func apply(ctx context.Context, pools ...running.Pool) {
	GinkgoHelper()
	Expect(stack.ApplyPools(ctx, pools...)).To(Succeed())
}

// update is how a run ends, be it well or not.
func update(ctx context.Context, pools ...running.Pool) running.Update {
	GinkgoHelper()
	text, err := running.PoolsYAML(pools...)
	Expect(err).NotTo(HaveOccurred())
	ended, err := stack.PoolUpdate(ctx, text)
	Expect(err).NotTo(HaveOccurred())
	return ended
}

func deletePool(ctx context.Context, id string) (status int, err error) {
	answer, err := stack.NoAuth("admin").Do(ctx, http.MethodDelete, "/v2/pools/"+id, nil)
	if err != nil {
		return 0, err
	}
	return answer.Status, nil
}

// registerKey registers the key of a server for a pool until the end of the spec.
func registerKey(ctx context.Context, pool running.Pool, server running.Server) {
	GinkgoHelper()
	var key struct{ ID string }
	Expect(stack.NoAuth("admin").Call(ctx, http.MethodPost, "/v2/tsigkeys", object{
		"name": server.TSIG.Name, "algorithm": server.TSIG.Algorithm, "secret": server.TSIG.Secret, "scope": "POOL", "resource_id": pool.ID,
	}, &key)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error {
		return stack.NoAuth("admin").Call(ctx, http.MethodDelete, "/v2/tsigkeys/"+key.ID, nil, nil)
	})
}

// newZone is a zone in a pool; it is gone after the spec.
func newZone(ctx context.Context, pool running.Pool) running.Zone {
	GinkgoHelper()
	name := "z" + uuid.NewString()[:8] + ".example.org."
	zone, err := stack.CreateZone(ctx, "project-"+uuid.NewString()[:8], name, pool.Attributes)
	Expect(err).NotTo(HaveOccurred())
	Expect(zone.PoolID).To(Equal(pool.ID))
	DeferCleanup(func(ctx context.Context) { removeZone(ctx, zone) })
	return awaitZone(ctx, zone, active)
}

func awaitZone(ctx context.Context, zone running.Zone, state string) running.Zone {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	zone, err := stack.AwaitZone(ctx, zone.ID, state)
	Expect(err).NotTo(HaveOccurred())
	return zone
}

// removeZone deletes a zone that may be gone by now, and waits until it is.
func removeZone(ctx context.Context, zone running.Zone) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(stack.RemoveZone(ctx, zone.ID)).To(Succeed())
}

// zoneNow is a zone at this moment.
func zoneNow(ctx context.Context, zone running.Zone) running.Zone {
	GinkgoHelper()
	now, err := stack.Zone(ctx, zone.ID)
	Expect(err).NotTo(HaveOccurred())
	return now
}

// change adds a record to a zone, which makes a new serial.
func change(ctx context.Context, zone running.Zone) {
	GinkgoHelper()
	Expect(stack.NoAuth("any").AllProjects().Call(ctx, http.MethodPost, "/v2/zones/"+zone.ID+"/recordsets", object{
		"name": "r" + uuid.NewString()[:8] + "." + zone.Name, "type": "TXT", "records": []string{`"changed"`},
	}, nil)).To(Succeed())
}

// served is the serial with which a server answers for a zone, and 0 when it does not.
func served(ctx context.Context, server running.Server, zone running.Zone) func() (int64, error) {
	client := statistics.NewClient(statistics.Limits{})
	return func() (int64, error) {
		zones, err := client.Zones(ctx, server.Address)
		if err != nil {
			return -1, err
		}
		for has := range zones.All() {
			if has.Name == zone.Name && has.Loaded {
				return int64(has.Serial), nil
			}
		}
		return 0, nil
	}
}

// forget takes a zone off a server that Designate takes none off any more.
func forget(ctx context.Context, server running.Server, zone running.Zone) {
	GinkgoHelper()
	output, err := stack.Command(ctx, "/usr/sbin/rndc", "-s", server.Address, "-k", server.RNDCKeyFile,
		"delzone", "-clean", strings.TrimSuffix(zone.Name, ".")).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
}

// without stops a service until the end of the spec, or until whoever called this starts it.
func without(ctx context.Context, service string) (start func()) {
	GinkgoHelper()
	Expect(stack.Stop(ctx, service)).To(Succeed())
	stopped := true
	start = func() {
		GinkgoHelper()
		if stopped {
			stopped = false
			Expect(stack.Start(context.WithoutCancel(ctx), service)).To(Succeed())
		}
	}
	DeferCleanup(start)
	return start
}

// rows counts the rows of a table of Designate's that belong to a pool.
func rows(ctx context.Context, table string, pool running.Pool) string {
	GinkgoHelper()
	count, err := stack.SQL(ctx, "designate", fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE pool_id = '%s'",
		table, strings.ReplaceAll(pool.ID, "-", "")))
	Expect(err).NotTo(HaveOccurred())
	return count
}
