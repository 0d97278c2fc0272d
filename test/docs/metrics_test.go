package docs

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	// The controllers register what they count.
	_ "github.com/designate-pools/designate-pool-operator/controllers"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// ourMetric is a metric of the operator's own.
var ourMetric = regexp.MustCompile(`designate_pool_operator_[a-z_]+`)

// registered says that there is a metric of that name in the registry that the operator serves: another one of that name
// is refused.
func registered(t *testing.T, name string) bool {
	t.Helper()
	probe := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "Looks whether the name is taken."})
	if err := metrics.Registry.Register(probe); err != nil {
		return true
	}
	metrics.Registry.Unregister(probe)
	return false
}

// serve registers what a controller registers when it starts.
func serve(t *testing.T) {
	t.Helper()
	for _, observer := range []prometheus.Collector{&zones.Observer{}, &serving.Observer{}} {
		if err := metrics.Registry.Register(observer); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { metrics.Registry.Unregister(observer) })
	}
}

// queries are the PromQL expressions of the alert rules and the dashboard.
func queries(t *testing.T) []string {
	t.Helper()
	var rules struct {
		Spec struct {
			Groups []struct {
				Rules []struct{ Alert, Expr string }
			}
		}
	}
	if err := yaml.Unmarshal(content(t, "config/prometheus/rules.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Definition string }
		}
	}
	if err := json.Unmarshal(content(t, "config/prometheus/dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, group := range rules.Spec.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Expr)
			if !strings.Contains(string(content(t, "docs/metrics.md")), "| `"+rule.Alert+"` |") {
				t.Errorf("docs/metrics.md does not say what to do about the alert %s", rule.Alert)
			}
		}
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		if variable.Definition != "" {
			all = append(all, variable.Definition)
		}
	}
	if len(all) < 15 {
		t.Errorf("%d expressions were read, which cannot be all", len(all))
	}
	return all
}

// named are the metrics that an expression of PromQL names.
func named(expression string) []string {
	for _, other := range []string{
		`"[^"]*"`, `\{[^}]*\}`, `\[[^\]]*\]`, `\b(by|without|on|ignoring)\s*\([^)]*\)`, `,\s*namespace\)`,
	} {
		expression = regexp.MustCompile(other).ReplaceAllString(expression, " ")
	}
	var names []string
	for _, word := range regexp.MustCompile(`[a-z_:][a-z0-9_:]*\s*\(?`).FindAllString(expression, -1) {
		if word = strings.TrimSpace(word); !strings.HasSuffix(word, "(") && !slices.Contains([]string{"and", "or", "unless"}, word) {
			names = append(names, word)
		}
	}
	return names
}

// R39.
func TestEveryMetricOfTheAlertsAndTheDashboardExists(t *testing.T) {
	serve(t)
	if registered(t, "designate_pool_operator_nothing") {
		t.Fatal("whatever it is called, a metric seems to be registered")
	}
	for _, expression := range queries(t) {
		names := named(expression)
		if len(names) == 0 {
			t.Errorf("no metric is seen in %s", expression)
		}
		for _, name := range names {
			base := name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				base = strings.TrimSuffix(base, suffix)
			}
			// Prometheus makes that one itself.
			if name != "up" && !registered(t, name) && !registered(t, base) {
				t.Errorf("%s is not registered, and is used in %s", name, expression)
			}
		}
	}
}

func TestEveryMetricIsDocumented(t *testing.T) {
	serve(t)
	documented := map[string]bool{}
	for _, name := range ourMetric.FindAllString(string(content(t, "docs/metrics.md")), -1) {
		documented[name] = true
		if !registered(t, name) {
			t.Errorf("docs/metrics.md has %s, which does not exist", name)
		}
	}
	inCode := 0
	for _, folder := range []string{"controllers", "webhooks", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			for _, name := range ourMetric.FindAllString(string(code), -1) {
				inCode++
				if !documented[name] {
					t.Errorf("docs/metrics.md does not have %s, which %s makes", name, entry.Name())
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if inCode < len(documented) {
		t.Errorf("%d metrics were seen in the code, which cannot be all of %d", inCode, len(documented))
	}
}

// Every metric of our own is worth looking at.
func TestEveryMetricIsInAnAlertOrOnTheDashboard(t *testing.T) {
	used := strings.Join(queries(t), "\n")
	for _, name := range ourMetric.FindAllString(string(content(t, "docs/metrics.md")), -1) {
		if !regexp.MustCompile(name + `(_bucket)?\b`).MatchString(used) {
			t.Errorf("nothing shows %s", name)
		}
	}
}

func TestTheKustomizationHasEveryFileOfItsFolder(t *testing.T) {
	kustomization := string(content(t, "config/prometheus/kustomization.yaml"))
	entries, err := os.ReadDir(filepath.Join(root, "config", "prometheus"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != "kustomization.yaml" && !strings.Contains(kustomization, entry.Name()) {
			t.Errorf("config/prometheus/kustomization.yaml leaves out %s", entry.Name())
		}
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	return []byte(strings.Join(lines(t, path), "\n"))
}
