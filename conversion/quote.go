package conversion

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxQuotedLength bounds what a message repeats of a text.
const maxQuotedLength = 300

// quote is a text of somebody's as a message may hold it: on one line, without control characters, and not too long.
func quote(s string) string {
	if utf8.RuneCountInString(s) <= maxQuotedLength {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s)[:maxQuotedLength])) + "..."
}

// describe says what a YAML value is, for messages about one that should have been something else.
func describe(node *yaml.Node) string {
	if node.Kind == yaml.MappingNode {
		return "a mapping"
	}
	if node.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch tag := node.ShortTag(); tag {
	case "!!str":
		return "the text " + quote(node.Value)
	case "!!null":
		return "empty"
	case "!!bool":
		return "the boolean " + quote(node.Value)
	case "!!int", "!!float":
		return "the number " + quote(node.Value)
	case "!!timestamp":
		return "the date " + quote(node.Value)
	default:
		return fmt.Sprintf("of the type %s", quote(tag))
	}
}
