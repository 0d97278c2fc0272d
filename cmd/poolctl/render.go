package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// Defaults of the flags: those that a DesignateBackend has.
const (
	defaultPrimaryPort      = 5354
	defaultRNDCKeyDirectory = "/etc/designate/rndc-keys"
	defaultPoolID           = "794ccc2c-d751-44fe-b57f-8894c9f5c842"
)

var renderCommand = command{
	name:      "render",
	arguments: "FILE --primary IP[:PORT] --server-cidr CIDR",
	summary:   "Print the pools.yaml that the operator would write",
	details: `
FILE is a manifest of the ConfigMap designate-multipool-config, a bare list of pools, or - for the standard input.

The servers get the addresses of the CIDR and the RNDC keys 1, 2, 3 and so on, in one sequence: first those of the
default pool, then those of the others in the order of the file, as in an installation that is made anew from it. A
pool without servers is left out.`,
	prepare: func(flags *pflag.FlagSet) func([]string, streams) int {
		r := &renderer{}
		flags.StringArrayVar(&r.primaries, "primary", nil,
			"address of a mdns server of Designate, with :PORT unless that is 5354; repeat for each")
		flags.StringVar(&r.serverCIDR, "server-cidr", "", "network whose addresses the servers get")
		flags.StringVar(&r.rndcKeyDirectory, "rndc-key-directory", defaultRNDCKeyDirectory,
			"directory in which Designate's worker sees the RNDC keys")
		flags.StringVar(&r.defaultPoolID, "default-pool-id", defaultPoolID, "id of the default pool in Designate")
		flags.StringVar(&r.namespace, "namespace", "",
			"namespace for which the pools' ids are made (that of the manifest, or default)")
		return r.run
	},
}

// renderer holds the flags of the command.
type renderer struct {
	primaries        []string
	serverCIDR       string
	rndcKeyDirectory string
	defaultPoolID    string
	namespace        string
}

func (r *renderer) run(files []string, s streams) int {
	if len(files) != 1 {
		return unexpected(s, "render", "name one file, or - for the standard input")
	}
	file := files[0]
	plan, err := r.plan()
	if err != nil {
		return unexpected(s, "render", err.Error())
	}
	content, err := readFile(file, s.in)
	if err != nil {
		s.complain("%v", err)
		return exitUsage
	}
	configMap, config, err := onlyConfig(content)
	if err != nil {
		report(file, err, s)
		return exitInvalid
	}
	warn(file, config.Warnings, s)
	for _, pool := range config.Pools {
		if pool.BINDReplicas == 0 {
			fmt.Fprintf(s.err, "%s: note: pool %q has no servers and is left out\n", file, pool.Name)
		}
	}
	if plan.namespace == "" {
		plan.namespace = cmp.Or(configMap.Namespace, corev1.NamespaceDefault)
	}
	rendered, err := plan.render(config.Pools)
	if err != nil {
		report(file, err, s)
		return exitInvalid
	}
	if _, err := s.out.Write(rendered); err != nil {
		s.complain("%v", err)
		return exitUsage
	}
	return exitOK
}

// plan reads the flags. The errors name them.
func (r *renderer) plan() (plan, error) {
	p := plan{namespace: r.namespace, defaultPoolID: r.defaultPoolID}
	p.shared.RNDCKeyDirectory = r.rndcKeyDirectory
	if len(r.primaries) == 0 {
		return p, errors.New("--primary is missing")
	}
	for _, text := range r.primaries {
		primary, err := parsePrimary(text)
		if err != nil {
			return p, err
		}
		if slices.Contains(p.shared.Primaries, primary) {
			return p, fmt.Errorf("--primary %s is there twice", text)
		}
		p.shared.Primaries = append(p.shared.Primaries, primary)
	}
	if !path.IsAbs(r.rndcKeyDirectory) || path.Clean(r.rndcKeyDirectory) != r.rndcKeyDirectory {
		return p, fmt.Errorf("--rndc-key-directory %q is not a clean absolute path", r.rndcKeyDirectory)
	}
	if id, err := uuid.Parse(r.defaultPoolID); err != nil || id.String() != r.defaultPoolID {
		return p, fmt.Errorf("--default-pool-id %q is not a UUID in lower case", r.defaultPoolID)
	}
	if r.serverCIDR == "" {
		return p, errors.New("--server-cidr is missing")
	}
	network, err := netip.ParsePrefix(r.serverCIDR)
	if err != nil {
		return p, fmt.Errorf("--server-cidr %q is not a network in CIDR notation, such as 10.0.0.0/24", r.serverCIDR)
	}
	if network != network.Masked() {
		return p, fmt.Errorf("--server-cidr %s is not the network's own notation: write %s", network, network.Masked())
	}
	p.network = network
	return p, nil
}

// parsePrimary reads IP, IPv4:PORT or [IPv6]:PORT.
func parsePrimary(text string) (v1alpha1.Primary, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return v1alpha1.Primary{Address: address.String(), Port: defaultPrimaryPort}, nil
	}
	endpoint, err := netip.ParseAddrPort(text)
	if err != nil || endpoint.Port() == 0 || endpoint.Addr().Zone() != "" {
		return v1alpha1.Primary{}, fmt.Errorf(
			"--primary %q is not an IP address, with or without a port, such as 192.0.2.1:5354 or [2001:db8::1]:5354", text)
	}
	return v1alpha1.Primary{Address: endpoint.Addr().String(), Port: int32(endpoint.Port())}, nil
}

// onlyConfig reads a file that must hold one ConfigMap of pools.
func onlyConfig(content []byte) (*corev1.ConfigMap, *conversion.MultipoolConfig, error) {
	configMaps, err := multipoolConfigMaps(content)
	if err != nil {
		return nil, nil, err
	}
	if len(configMaps) > 1 {
		return nil, nil, fmt.Errorf("holds %d ConfigMaps named %q: keep one", len(configMaps), v1alpha1.MultipoolConfigMapName)
	}
	config, err := conversion.ParseConfigMap(configMaps[0])
	if err != nil {
		return nil, nil, err
	}
	return configMaps[0], config, nil
}

// plan is what a new installation would make of a list of pools.
type plan struct {
	namespace     string
	defaultPoolID string
	network       netip.Prefix
	shared        conversion.Shared
}

// render gives the servers their addresses and keys, in the order of the pools' indexes, and writes pools.yaml.
func (p plan) render(pools []conversion.ConfiguredPool) ([]byte, error) {
	needed := 0
	for _, pool := range pools {
		needed += int(pool.BINDReplicas)
	}
	addresses := hosts(p.network, needed)
	if len(addresses) < needed {
		return nil, fmt.Errorf("--server-cidr %s has %d addresses and the servers need %d: name a larger network",
			p.network, len(addresses), needed)
	}
	var entries []conversion.PoolEntry
	key := int32(0)
	for _, pool := range inIndexOrder(pools) {
		if pool.BINDReplicas == 0 {
			continue
		}
		servers := make([]conversion.Server, 0, pool.BINDReplicas)
		for ordinal := range pool.BINDReplicas {
			servers = append(servers, conversion.Server{Ordinal: ordinal, Address: addresses[key].String(), RNDCKey: key + 1})
			key++
		}
		entries = append(entries, conversion.NewPoolEntry(pool.Name, p.idOf(pool.Name), pool.PoolSettings, servers, p.shared))
	}
	return conversion.RenderPoolsYAML(entries)
}

func (p plan) idOf(poolName string) string {
	if poolName == v1alpha1.DefaultPoolName {
		return p.defaultPoolID
	}
	return conversion.PoolID(p.namespace, poolName)
}

// inIndexOrder puts the default pool first, as its index is 0, and leaves the others in the order of the file.
func inIndexOrder(pools []conversion.ConfiguredPool) []conversion.ConfiguredPool {
	ordered := slices.Clone(pools)
	slices.SortStableFunc(ordered, func(a, b conversion.ConfiguredPool) int {
		switch {
		case a.Name == v1alpha1.DefaultPoolName:
			return -1
		case b.Name == v1alpha1.DefaultPoolName:
			return 1
		default:
			return 0
		}
	})
	return ordered
}

// hosts are the first usable addresses of a network, as many as are wanted if there are. The network's own address is
// not one, nor is IPv4's broadcast address, except in networks of one or two addresses.
func hosts(network netip.Prefix, wanted int) []netip.Addr {
	hostBits := network.Addr().BitLen() - network.Bits()
	address := network.Addr()
	if hostBits > 1 {
		address = address.Next()
	}
	var addresses []netip.Addr
	for len(addresses) < wanted && network.Contains(address) {
		next := address.Next()
		if broadcast := address.Is4() && hostBits > 1 && !network.Contains(next); broadcast {
			break
		}
		addresses = append(addresses, address)
		address = next
	}
	return addresses
}
