package conversion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/equality"
)

// RenderPoolsYAML writes pools.yaml, the pools in the order given. The same pools give the same bytes.
//
// It refuses what Designate would take and be broken by: no pools, a pool without nameservers, targets, masters or NS
// records, and two pools that Designate would take for one. What it returns has been read back and found to say what
// was asked.
func RenderPoolsYAML(pools []PoolEntry) ([]byte, error) {
	if err := checkEntries(pools); err != nil {
		return nil, err
	}
	documents := make([]poolDocument, 0, len(pools))
	for _, pool := range pools {
		documents = append(documents, documentOf(pool))
	}
	var rendered bytes.Buffer
	encoder := yaml.NewEncoder(&rendered)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(documents), encoder.Close()); err != nil {
		return nil, fmt.Errorf("rendering pools.yaml: %w", err)
	}
	readBack, err := ParsePoolsYAML(rendered.Bytes())
	if err != nil {
		return nil, fmt.Errorf("reading back the rendered pools.yaml: %w", err)
	}
	if !equality.Semantic.DeepEqual(pools, readBack) {
		return nil, errors.New("the rendered pools.yaml does not read back as what was asked for")
	}
	return rendered.Bytes(), nil
}

// ParsePoolsYAML reads pools.yaml. Unknown and duplicate keys, targets other than BIND servers and a second document
// are errors.
func ParsePoolsYAML(rendered []byte) ([]PoolEntry, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(rendered))
	decoder.KnownFields(true)
	var documents []poolDocument
	if err := decoder.Decode(&documents); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading pools.yaml: %w", err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading pools.yaml: more than one document")
	}
	pools := make([]PoolEntry, 0, len(documents))
	for _, document := range documents {
		pool, err := document.entry()
		if err != nil {
			return nil, fmt.Errorf("reading pools.yaml: %w", err)
		}
		pools = append(pools, pool)
	}
	return pools, nil
}

func checkEntries(pools []PoolEntry) error {
	if len(pools) == 0 {
		return errors.New("no pools: pools.yaml is never written empty")
	}
	names := map[string]string{}
	ids := map[string]string{}
	for _, pool := range pools {
		if err := checkEntry(pool); err != nil {
			return fmt.Errorf("pool %q: %w", pool.Name, err)
		}
		folded := FoldName(pool.Name)
		if other, taken := names[folded]; taken {
			return fmt.Errorf("pool %q: Designate takes its name for that of pool %q", pool.Name, other)
		}
		names[folded] = pool.Name
		if pool.ID == "" {
			continue
		}
		id := strings.ToLower(pool.ID)
		if other, taken := ids[id]; taken {
			return fmt.Errorf("pool %q: has the id of pool %q, %s", pool.Name, other, pool.ID)
		}
		ids[id] = pool.Name
	}
	return nil
}

func checkEntry(pool PoolEntry) error {
	switch {
	case pool.Name == "":
		return errors.New("no name")
	case len(pool.NSRecords) == 0:
		return errors.New("no NS records")
	case len(pool.Nameservers) == 0:
		return errors.New("no nameservers")
	case len(pool.Targets) == 0:
		return errors.New("no targets")
	}
	for _, nameserver := range pool.Nameservers {
		if err := checkAddress(nameserver); err != nil {
			return fmt.Errorf("nameserver: %w", err)
		}
	}
	for _, target := range pool.Targets {
		if err := checkTarget(target); err != nil {
			return fmt.Errorf("target %q: %w", target.Description, err)
		}
	}
	return nil
}

func checkTarget(target Target) error {
	if len(target.Masters) == 0 {
		return errors.New("no masters")
	}
	if target.RNDCKeyFile == "" {
		return errors.New("no RNDC key file")
	}
	var errs []error
	for _, address := range append([]Address{target.DNS, target.RNDC}, target.Masters...) {
		errs = append(errs, checkAddress(address))
	}
	return errors.Join(errs...)
}

func checkAddress(address Address) error {
	if address.Host == "" {
		return errors.New("an address has no host")
	}
	if address.Port < 1 || address.Port > maxPort {
		return fmt.Errorf("host %q: port %d is not one of 1 to %d", address.Host, address.Port, maxPort)
	}
	return nil
}
