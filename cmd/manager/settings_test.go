package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

func noEnvironment(string) string { return "" }

func inPod(name string) string {
	if name == "POD_NAMESPACE" {
		return "operators"
	}
	return ""
}

func mustParse(t *testing.T, args ...string) *settings {
	t.Helper()
	s, err := parse(args, inPod, io.Discard)
	if err != nil {
		t.Fatalf("parse(%q): %v", args, err)
	}
	return s
}

func TestNamespacesAreGivenOneByOneOrTogether(t *testing.T) {
	got := mustParse(t, "--namespace=dns, openstack", "--namespace", "edge", "--namespace=dns").namespaces
	if diff := cmp.Diff(nameList{"dns", "edge", "openstack"}, got); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

func TestTheOperatorsNamespaceComesFromItsPodUnlessSaid(t *testing.T) {
	if got := mustParse(t).operatorNamespace; got != "operators" {
		t.Errorf("operator's namespace %q, want that of its pod", got)
	}
	if got := mustParse(t, "--operator-namespace=dns").operatorNamespace; got != "dns" {
		t.Errorf("operator's namespace %q, want the one that was said", got)
	}
}

func TestWhatDoesNotFitTogetherIsRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a lease without a place for it":        {[]string{"--leader-elect"}, "--leader-elect needs --operator-namespace"},
		"a Secret without a place for it":       {nil, "--webhook-secret needs --operator-namespace"},
		"a certificate for no Service":          {[]string{"--webhook-service="}, "--webhook-service"},
		"a certificate in no directory":         {[]string{"--webhook-cert-dir="}, "--webhook-cert-dir"},
		"a port out of range":                   {[]string{"--webhook-port=0"}, "--webhook-port"},
		"a namespace that cannot exist":         {[]string{"--namespace=dns,Not_One"}, `--namespace: "Not_One"`},
		"a host name that cannot exist":         {[]string{"--webhook-host-names=a b"}, `--webhook-host-names: "a b"`},
		"options that no controller could take": {[]string{"--retry-qps=-1"}, "--retry-qps"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.args, noEnvironment, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("parse(%q) = %v, want an error with %q", test.args, err, test.want)
			}
		})
	}
}

func TestWithoutWebhooksNothingOfTheirsIsNeeded(t *testing.T) {
	args := []string{"--enable-webhooks=false", "--webhook-port=0"}
	if _, err := parse(args, noEnvironment, io.Discard); err != nil {
		t.Errorf("parse(%q): %v", args, err)
	}
}

func TestCertificatesOfSomebodyElseNeedNoSecret(t *testing.T) {
	args := []string{"--webhook-secret=", "--webhook-service="}
	if _, err := parse(args, noEnvironment, io.Discard); err != nil {
		t.Errorf("parse(%q): %v", args, err)
	}
}

func TestSettingsReachTheManager(t *testing.T) {
	s := mustParse(t, "--namespace=dns", "--leader-elect", "--metrics-bind-address=:1", "--health-probe-bind-address=:2",
		"--retry-max-delay=7s")
	got := managerOptions(runtime.NewScheme(), s)
	if _, watched := got.Cache.DefaultNamespaces["dns"]; !watched || len(got.Cache.DefaultNamespaces) != 1 {
		t.Errorf("namespaces watched: %v, want dns alone", got.Cache.DefaultNamespaces)
	}
	if !got.LeaderElection || got.LeaderElectionNamespace != "operators" || !got.LeaderElectionReleaseOnCancel {
		t.Errorf("leader election %t in %q, released %t; want it in operators, released at the end",
			got.LeaderElection, got.LeaderElectionNamespace, got.LeaderElectionReleaseOnCancel)
	}
	if got.Metrics.BindAddress != ":1" || !got.Metrics.SecureServing || got.Metrics.FilterProvider == nil {
		t.Errorf("metrics at %q, secure %t, guarded %t; want them at :1, secure and guarded",
			got.Metrics.BindAddress, got.Metrics.SecureServing, got.Metrics.FilterProvider != nil)
	}
	if got.HealthProbeBindAddress != ":2" {
		t.Errorf("probes at %q, want :2", got.HealthProbeBindAddress)
	}
	if s.controllers.RetryMaxDelay != 7*time.Second {
		t.Errorf("longest wait between retries %s, want 7s", s.controllers.RetryMaxDelay)
	}
}

func TestMetricsCanBeLeftOut(t *testing.T) {
	got := managerOptions(runtime.NewScheme(), mustParse(t, "--metrics-bind-address=0")).Metrics
	if got.BindAddress != "0" || got.FilterProvider != nil {
		t.Errorf("metrics at %q, guarded %t; want none", got.BindAddress, got.FilterProvider != nil)
	}
}
