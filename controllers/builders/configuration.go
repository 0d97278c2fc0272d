package builders

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/designate-pools/designate-pool-operator/conversion"
)

// Paths inside the BIND container.
const (
	configDirectory = "/etc/bind/designate"
	keyDirectory    = "/etc/bind/rndc"
	zoneDirectory   = "/var/named-persistent"
	runDirectory    = "/run/named"
	namedConfKey    = "named.conf"
)

// Ports inside the BIND container: high ones, so that it needs no privileges. The Services map them.
const (
	containerDNSPort        = 1053
	containerRNDCPort       = 1953
	containerStatisticsPort = StatisticsPort
)

// ConfigMap holds the BIND configuration of a pool: what its servers share in named.conf, and for each pod a file that
// adds the server's own RNDC key. One file a pod, chosen by its name, needs no shell in the image.
func ConfigMap(pool *Pool) *corev1ac.ConfigMapApplyConfiguration {
	data := map[string]string{namedConfKey: namedConf(pool)}
	for _, server := range pool.Servers {
		data[serverConfKey(server.Pod())] = serverConf(pool, server)
	}
	return corev1ac.ConfigMap(ConfigMapName(pool.Index), pool.Namespace).
		WithLabels(pool.labels()).
		WithAnnotations(pool.annotations()).
		WithData(data)
}

// KeySecret holds the RNDC keys of one pool's servers; keys holds each under its name in the Secret of all servers.
func KeySecret(pool *Pool, keys map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(KeySecretName(pool.Index), pool.Namespace).
		WithLabels(pool.labels()).
		WithAnnotations(pool.annotations()).
		WithData(keys)
}

// configHash changes with what all servers of a pool share, and not with how many there are: scaling restarts none.
func configHash(pool *Pool) string {
	sum := sha256.Sum256([]byte(namedConf(pool) + controls(pool, "") + tsigHash(pool)))
	return hex.EncodeToString(sum[:8])
}

func serverConfKey(pod string) string { return pod + ".conf" }

func serverConf(pool *Pool, server Server) string {
	key := conversion.RNDCKeyName(server.RNDCKey)
	return fmt.Sprintf("include %q;\n%sinclude %q;\n", keyDirectory+"/"+key, controls(pool, key), configDirectory+"/"+namedConfKey)
}

func controls(pool *Pool, key string) string {
	var text strings.Builder
	text.WriteString("controls {\n")
	for _, wildcard := range wildcards(pool.Template.ControlCIDRs) {
		fmt.Fprintf(&text, "\tinet %s port %d allow %s keys { %q; };\n",
			wildcard, containerRNDCPort, matchList(pool.Template.ControlCIDRs), key)
	}
	text.WriteString("};\n")
	return text.String()
}

// namedConf is what all servers of a pool share.
//
// allow-notify and the control channel go by network: a NOTIFY comes from whichever worker of Designate sends it, not
// from a primary. allow-transfer is none because Designate is where zones are transferred from. dnssec-validation is off
// because a server that answers for its own zones only has nothing to validate, and would else ask the root for keys.
func namedConf(pool *Pool) string {
	control := matchList(pool.Template.ControlCIDRs)
	var text strings.Builder
	fmt.Fprintf(&text, "options {\n")
	for _, statement := range []string{
		fmt.Sprintf("directory %q", zoneDirectory),
		fmt.Sprintf("pid-file %q", runDirectory+"/named.pid"),
		fmt.Sprintf("session-keyfile %q", runDirectory+"/session.key"),
		fmt.Sprintf("listen-on port %d { any; }", containerDNSPort),
		fmt.Sprintf("listen-on-v6 port %d { any; }", containerDNSPort),
		"allow-new-zones yes",
		"recursion no",
		"dnssec-validation no",
		"version none",
		"hostname none",
		"allow-query { any; }",
		"allow-transfer { none; }",
		"allow-notify " + control,
		"notify no",
	} {
		fmt.Fprintf(&text, "\t%s;\n", statement)
	}
	for _, option := range pool.Template.Options {
		fmt.Fprintf(&text, "\t%s\n", option)
	}
	fmt.Fprintf(&text, "};\n")
	fmt.Fprintf(&text, "statistics-channels {\n")
	for _, wildcard := range wildcards(pool.Template.ControlCIDRs) {
		fmt.Fprintf(&text, "\tinet %s port %d allow %s;\n", wildcard, containerStatisticsPort, control)
	}
	fmt.Fprintf(&text, "};\n")
	text.WriteString(signedTransfers(pool))
	return text.String()
}

// wildcards are the addresses on which the control channels listen: one for each address family among the networks that
// may reach them, since BIND has no wildcard for both.
func wildcards(cidrs []string) []string {
	ipv4, ipv6 := false, false
	for _, cidr := range cidrs {
		if prefix, err := netip.ParsePrefix(cidr); err == nil && prefix.Addr().Is6() {
			ipv6 = true
		} else {
			ipv4 = true
		}
	}
	var result []string
	if ipv4 {
		result = append(result, "*")
	}
	if ipv6 {
		result = append(result, "::")
	}
	return result
}

// matchList is an address match list of BIND.
func matchList(cidrs []string) string {
	return "{ " + strings.Join(cidrs, "; ") + "; }"
}
