package conversion

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// targetType is the kind of Designate backend that every target is.
const targetType = "bind9"

// text is written double-quoted whatever it holds: Designate reads pools.yaml by the rules of YAML 1.1, to which a
// plain yes, 0777, 1:30 or 2026-01-01 is no text.
type text string

// MarshalYAML makes the scalar of the text.
func (t text) MarshalYAML() (any, error) { return t.node() }

func (t text) node() (*yaml.Node, error) {
	if !utf8.ValidString(string(t)) {
		return nil, fmt.Errorf("%q is not valid UTF-8, so it cannot be written as it is", string(t))
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(t)}, nil
}

// attributesDocument is written in the order of its keys. The YAML library has an order of its own for maps, which
// reads digits as numbers.
type attributesDocument map[string]string

// MarshalYAML makes the mapping of the attributes.
func (a attributesDocument) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		for _, part := range []string{key, a[key]} {
			scalar, err := text(part).node()
			if err != nil {
				return nil, fmt.Errorf("attribute %q: %w", key, err)
			}
			mapping.Content = append(mapping.Content, scalar)
		}
	}
	return mapping, nil
}

// The documents below are pools.yaml key by key, in the order in which the keys are written.

type poolDocument struct {
	Name        text               `yaml:"name"`
	ID          text               `yaml:"id,omitempty"`
	Description text               `yaml:"description"`
	Attributes  attributesDocument `yaml:"attributes"`
	NSRecords   []nsRecordDocument `yaml:"ns_records"`
	Nameservers []addressDocument  `yaml:"nameservers"`
	Targets     []targetDocument   `yaml:"targets"`
}

type nsRecordDocument struct {
	Hostname text  `yaml:"hostname"`
	Priority int32 `yaml:"priority"`
}

type addressDocument struct {
	Host text  `yaml:"host"`
	Port int32 `yaml:"port"`
}

type targetDocument struct {
	Type        text              `yaml:"type"`
	Description text              `yaml:"description"`
	Masters     []addressDocument `yaml:"masters"`
	Options     optionsDocument   `yaml:"options"`
}

type optionsDocument struct {
	Host        text  `yaml:"host"`
	Port        int32 `yaml:"port"`
	RNDCHost    text  `yaml:"rndc_host"`
	RNDCPort    int32 `yaml:"rndc_port"`
	RNDCKeyFile text  `yaml:"rndc_key_file"`
}

func documentOf(pool PoolEntry) poolDocument {
	document := poolDocument{
		Name:        text(pool.Name),
		ID:          text(pool.ID),
		Description: text(pool.Description),
		Attributes:  pool.Attributes,
		Nameservers: addressDocuments(pool.Nameservers),
	}
	for _, record := range pool.NSRecords {
		document.NSRecords = append(document.NSRecords,
			nsRecordDocument{Hostname: text(record.Hostname), Priority: record.Priority})
	}
	for _, target := range pool.Targets {
		document.Targets = append(document.Targets, targetDocument{
			Type:        targetType,
			Description: text(target.Description),
			Masters:     addressDocuments(target.Masters),
			Options: optionsDocument{
				Host:        text(target.DNS.Host),
				Port:        target.DNS.Port,
				RNDCHost:    text(target.RNDC.Host),
				RNDCPort:    target.RNDC.Port,
				RNDCKeyFile: text(target.RNDCKeyFile),
			},
		})
	}
	return document
}

func addressDocuments(list []Address) []addressDocument {
	documents := make([]addressDocument, 0, len(list))
	for _, address := range list {
		documents = append(documents, addressDocument{Host: text(address.Host), Port: address.Port})
	}
	return documents
}

func (d poolDocument) entry() (PoolEntry, error) {
	if d.Name == "" {
		return PoolEntry{}, errors.New("a pool has no name")
	}
	pool := PoolEntry{
		Name:        string(d.Name),
		ID:          string(d.ID),
		Description: string(d.Description),
		Attributes:  d.Attributes,
		Nameservers: addresses(d.Nameservers),
	}
	for _, record := range d.NSRecords {
		pool.NSRecords = append(pool.NSRecords,
			v1alpha1.NSRecord{Hostname: string(record.Hostname), Priority: record.Priority})
	}
	for _, target := range d.Targets {
		if target.Type != targetType {
			return PoolEntry{}, fmt.Errorf("pool %q: target of type %q: only %s is known here", d.Name, target.Type, targetType)
		}
		pool.Targets = append(pool.Targets, Target{
			Description: string(target.Description),
			Masters:     addresses(target.Masters),
			DNS:         Address{Host: string(target.Options.Host), Port: target.Options.Port},
			RNDC:        Address{Host: string(target.Options.RNDCHost), Port: target.Options.RNDCPort},
			RNDCKeyFile: string(target.Options.RNDCKeyFile),
		})
	}
	return pool, nil
}

func addresses(documents []addressDocument) []Address {
	list := make([]Address, 0, len(documents))
	for _, document := range documents {
		list = append(list, Address{Host: string(document.Host), Port: document.Port})
	}
	return list
}
