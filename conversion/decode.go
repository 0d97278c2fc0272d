package conversion

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Keys of a pool and of an NS record in the pools text, and so the names of these fields in messages.
const (
	fieldName         = "name"
	fieldDescription  = "description"
	fieldAttributes   = "attributes"
	fieldBINDReplicas = "bindReplicas"
	fieldNSRecords    = "nsRecords"
	fieldHostname     = "hostname"
	fieldPriority     = "priority"
)

const mergeKeyMessage = "merge keys (<<) are not supported: repeat the keys, or make an alias of a whole value"

var (
	poolKeys     = []string{fieldName, fieldDescription, fieldAttributes, fieldBINDReplicas, fieldNSRecords}
	nsRecordKeys = []string{fieldHostname, fieldPriority}

	// refusedKeys are keys that other operators know and that mean nothing here: passing over them would be a promise.
	refusedKeys = map[string]string{
		"view":             "views are not supported: remove the key",
		"availabilityZone": "is not a key of its own here: write it as the attribute availability_zone, under attributes",
	}

	wholeNumber = regexp.MustCompile(`^(0|-?[1-9]\d*)$`)
)

// decodedPool is a pool as the text has it, with the places of its fields.
type decodedPool struct {
	ConfiguredPool
	// lines of the fields that are there, by the field's path.
	lines map[string]int
	// faulty are the fields whose fault is known, so that their zero value is not judged as well.
	faulty map[string]bool
}

// lineOf is the line of a field or, when it is missing, of what it is missing from.
func (p *decodedPool) lineOf(field string) int {
	for path := field; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		if line, there := p.lines[path]; there {
			return line
		}
	}
	return p.Line
}

// locate gives problems that name a field only the pool and the line, and leaves out those of fields known to be faulty.
func (p *decodedPool) locate(problems Problems) Problems {
	var located Problems
	for _, problem := range problems {
		if !p.faulty[problem.Field] {
			problem.Pool, problem.Line = p.Name, p.lineOf(problem.Field)
			located = append(located, problem)
		}
	}
	return located
}

// poolDecoder reads one entry of the list and collects its faults.
type poolDecoder struct {
	pool     decodedPool
	problems Problems
}

// decodePool reads one entry of the list.
func decodePool(node *yaml.Node) (decodedPool, Problems) {
	d := &poolDecoder{pool: decodedPool{lines: map[string]int{}, faulty: map[string]bool{}}}
	d.pool.Line = node.Line
	node = resolve(node)
	if node.Kind != yaml.MappingNode {
		d.fault(d.pool.Line, "", "each pool must be a mapping with the keys %s; it is %s", strings.Join(poolKeys, ", "), describe(node))
		d.excuse("", poolKeys...)
		return d.pool, d.problems
	}
	d.pool.Name = nameOf(node)
	values := d.mapping(node, "", poolKeys, fieldName, fieldBINDReplicas, fieldNSRecords)
	if value, there := values[fieldName]; there {
		d.pool.Name = d.text(value, fieldName)
	}
	if value, there := values[fieldDescription]; there {
		d.pool.Description = d.text(value, fieldDescription)
	}
	if value, there := values[fieldAttributes]; there {
		d.pool.Attributes = d.attributes(value)
	}
	if value, there := values[fieldBINDReplicas]; there {
		d.pool.BINDReplicas = d.number(value, fieldBINDReplicas)
	}
	if value, there := values[fieldNSRecords]; there {
		d.pool.NSRecords = d.nsRecords(value)
	}
	return d.pool, d.problems
}

// nameOf is what messages call a pool before its name has been read, whatever type it is of.
func nameOf(pool *yaml.Node) string {
	for i := 0; i < len(pool.Content); i += 2 {
		if key, value := resolve(pool.Content[i]), resolve(pool.Content[i+1]); key.Value == fieldName {
			return value.Value
		}
	}
	return ""
}

// report notes something that is wrong, beside which the field's value can be judged.
func (d *poolDecoder) report(line int, field, format string, args ...any) {
	d.problems = append(d.problems, Problem{Line: line, Pool: d.pool.Name, Field: field, Message: fmt.Sprintf(format, args...)})
}

// fault notes that a field has no value that could be judged, and why.
func (d *poolDecoder) fault(line int, field, format string, args ...any) {
	d.report(line, field, format, args...)
	d.pool.faulty[field] = true
}

// excuse keeps fields from being judged that are not there because of another fault.
func (d *poolDecoder) excuse(path string, keys ...string) {
	for _, key := range keys {
		d.pool.faulty[join(path, key)] = true
	}
}

// mapping is the values of a mapping by their keys. Unknown, repeated and missing keys are faults.
func (d *poolDecoder) mapping(node *yaml.Node, path string, known []string, required ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	var meant []string // keys that a faulty key may stand for
	for i := 0; i < len(node.Content); i += 2 {
		key, value := resolve(node.Content[i]), node.Content[i+1]
		line := node.Content[i].Line
		field := join(path, key.Value)
		switch {
		case key.ShortTag() == "!!merge":
			d.report(line, path, mergeKeyMessage)
			meant = append(meant, known...)
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			meant = append(meant, d.unknownKey(line, path, key, known))
		case values[key.Value] != nil:
			d.report(line, field, "is there twice, first on line %d: remove one of them", d.pool.lines[field])
		default:
			values[key.Value] = value
			d.pool.lines[field] = line
		}
	}
	for _, key := range required {
		switch {
		case values[key] != nil:
		case slices.Contains(meant, key):
			d.excuse(path, key)
		default:
			d.fault(node.Line, join(path, key), "is missing: add the key")
		}
	}
	return values
}

// unknownKey notes a key that means nothing. It gives the key that it was most likely meant to be, or "".
func (d *poolDecoder) unknownKey(line int, path string, key *yaml.Node, known []string) string {
	if key.Kind != yaml.ScalarNode {
		d.report(line, path, "a key must be a word; it is %s", describe(key))
		return ""
	}
	if advice, refused := refusedKeys[key.Value]; refused && path == "" {
		d.report(line, key.Value, "%s", advice)
		return ""
	}
	meant := nearest(key.Value, known)
	if meant == "" {
		d.report(line, path, "unknown key %s: the keys are %s", quote(key.Value), strings.Join(known, ", "))
	} else {
		d.report(line, path, "unknown key %s: did you mean %s?", quote(key.Value), meant)
	}
	return meant
}

// text is a value that must be text.
func (d *poolDecoder) text(node *yaml.Node, field string) string {
	value := resolve(node)
	switch {
	case value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str":
		return value.Value
	case value.Kind == yaml.ScalarNode && value.ShortTag() != "!!null":
		d.fault(node.Line, field, "must be text; it is %s: put it in quotes, as in %s", describe(value), quote(value.Value))
	default:
		d.fault(node.Line, field, "must be text; it is %s: write text in quotes", describe(value))
	}
	return value.Value
}

// typedText is a value of an attribute, or its key: what was typed, even if YAML sees a boolean or a number in it.
// Designate's own samples are written so.
func (d *poolDecoder) typedText(node *yaml.Node, field, what string) (string, bool) {
	value := resolve(node)
	if value.Kind == yaml.ScalarNode {
		switch value.ShortTag() {
		case "!!str", "!!bool", "!!int", "!!float", "!!timestamp", "!!merge":
			return value.Value, true
		}
	}
	d.fault(node.Line, field, "%s must be text; it is %s: write text in quotes", what, describe(value))
	return "", false
}

func (d *poolDecoder) attributes(node *yaml.Node) map[string]string {
	value := resolve(node)
	if value.Kind != yaml.MappingNode {
		d.fault(node.Line, fieldAttributes, "must be a mapping of keys to texts, such as availability_zone: az1; it is %s", describe(value))
		return nil
	}
	attributes := map[string]string{}
	for i := 0; i < len(value.Content); i += 2 {
		line := value.Content[i].Line
		if resolve(value.Content[i]).ShortTag() == "!!merge" {
			d.report(line, fieldAttributes, mergeKeyMessage)
			continue
		}
		key, ok := d.typedText(value.Content[i], fieldAttributes, "a key")
		if !ok {
			continue
		}
		field := attributeField(key)
		if _, there := attributes[key]; there {
			d.report(line, field, "is there twice, first on line %d: remove one of them", d.pool.lines[field])
			continue
		}
		d.pool.lines[field] = line
		attributes[key], _ = d.typedText(value.Content[i+1], field, "the value")
	}
	return attributes
}

func (d *poolDecoder) nsRecords(node *yaml.Node) []v1alpha1.NSRecord {
	value := resolve(node)
	if value.Kind != yaml.SequenceNode {
		d.fault(node.Line, fieldNSRecords, "must be a list of host names and priorities; it is %s", describe(value))
		return nil
	}
	records := make([]v1alpha1.NSRecord, 0, len(value.Content))
	for i, item := range value.Content {
		records = append(records, d.nsRecord(item, nsRecordField(i)))
	}
	return records
}

func (d *poolDecoder) nsRecord(node *yaml.Node, path string) v1alpha1.NSRecord {
	var record v1alpha1.NSRecord
	value := resolve(node)
	d.pool.lines[path] = node.Line
	if value.Kind != yaml.MappingNode {
		d.fault(node.Line, path, "must be a mapping with the keys %s; it is %s", strings.Join(nsRecordKeys, " and "), describe(value))
		d.excuse(path, nsRecordKeys...)
		return record
	}
	values := d.mapping(value, path, nsRecordKeys, nsRecordKeys...)
	if hostname, there := values[fieldHostname]; there {
		record.Hostname = d.text(hostname, join(path, fieldHostname))
	}
	if priority, there := values[fieldPriority]; there {
		record.Priority = d.number(priority, join(path, fieldPriority))
	}
	return record
}

// number is a value that must be a whole number in plain decimal digits: what else YAML takes for a number (octal,
// hexadecimal, underscores) reads differently from one YAML version to the next.
func (d *poolDecoder) number(node *yaml.Node, field string) int32 {
	value := resolve(node)
	plain := value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if value.Kind != yaml.ScalarNode || !plain || value.ShortTag() == "!!str" ||
		!wholeNumber.MatchString(value.Value) {
		d.fault(node.Line, field, "must be a whole number without quotes, such as 2; it is %s", describe(value))
		return 0
	}
	number, err := strconv.ParseInt(value.Value, 10, 32)
	if err != nil {
		d.fault(node.Line, field, "must be a whole number below %d; it is %s", math.MaxInt32, quote(value.Value))
		return 0
	}
	return int32(number)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func attributeField(key string) string { return fmt.Sprintf("%s[%s]", fieldAttributes, quote(key)) }

func nsRecordField(index int) string { return fmt.Sprintf("%s[%d]", fieldNSRecords, index) }
