package conversion

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds the values of a pools text once its aliases are written out. A list of MaxPools pools, each with all
// the attributes and NS records that it may have, stays below it.
const maxNodes = 250_000

var (
	tabIndent = regexp.MustCompile(`^ *\t\s*\S`)
	// libraryMessage takes the line off what the YAML library says.
	libraryMessage = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
)

// readDocument is the root of the one YAML document that the text holds.
func readDocument(input string) (*yaml.Node, Problems) {
	if line, message := findForbiddenCharacter(input); line > 0 {
		return nil, Problems{{Line: line, Message: message}}
	}
	decoder := yaml.NewDecoder(strings.NewReader(input))
	var document yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, Problems{{Message: emptyListMessage}}
	}
	if err != nil {
		return nil, Problems{syntaxProblem(input, err)}
	}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, Problems{{
			Line:    second.Line,
			Message: "a second document begins here: put all pools into one list, without --- between them",
		}}
	case !errors.Is(err, io.EOF):
		return nil, Problems{syntaxProblem(input, err)}
	}
	if problem := checkExpansion(&document); problem != nil {
		return nil, Problems{*problem}
	}
	return document.Content[0], nil
}

// findForbiddenCharacter finds what YAML does not allow in its text. The library finds it too, but names no line.
func findForbiddenCharacter(input string) (line int, message string) {
	line = 1
	for i, r := range input {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(input[i:], string(utf8.RuneError)):
			return line, "not valid UTF-8: save the text as UTF-8"
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != '\u0085', r == 0xfffe, r == 0xffff:
			return line, fmt.Sprintf("control character U+%04X: remove it", r)
		}
	}
	return 0, ""
}

// syntaxProblem puts what the YAML library says at the line that it means.
func syntaxProblem(input string, err error) Problem {
	parts := libraryMessage.FindStringSubmatch(err.Error())
	message := parts[2]
	line := 1 // where the library names no line, it means the first
	if named, err := strconv.Atoi(parts[1]); err == nil {
		line = named
		if parserMessage(message) {
			line++ // the library counts lines from 0 in these
		}
	}
	for i, text := range strings.Split(input, "\n") {
		if i+1 <= line+1 && tabIndent.MatchString(text) {
			return Problem{Line: i + 1, Message: "indented with a tab: YAML takes only spaces there"}
		}
	}
	return Problem{Line: line, Message: "not YAML: " + message}
}

// parserMessage tells the messages of the library's parser from those of its scanner, which count lines differently.
func parserMessage(message string) bool {
	for _, end := range []string{"key", "'-' indicator", "',' or ']'", "',' or '}'", "node content", "<document start>"} {
		if message == "did not find expected "+end {
			return true
		}
	}
	return false
}

// checkExpansion refuses aliases that lead into themselves or stand for more values than anybody means.
func checkExpansion(document *yaml.Node) *Problem {
	sizes := map[*yaml.Node]int{}
	const open = -1
	var measure func(*yaml.Node) (int, *Problem)
	measure = func(node *yaml.Node) (int, *Problem) {
		switch size, seen := sizes[node]; {
		case size == open:
			return 0, &Problem{
				Line:    node.Line,
				Message: fmt.Sprintf("the anchor &%s holds an alias of itself: write the value out", node.Anchor),
			}
		case seen:
			return size, nil
		}
		sizes[node] = open
		children := node.Content
		if node.Kind == yaml.AliasNode {
			children = []*yaml.Node{node.Alias}
		}
		size := 1
		for _, child := range children {
			childSize, problem := measure(child)
			if problem != nil {
				return 0, problem
			}
			if size += childSize; size > maxNodes {
				return 0, &Problem{
					Line:    node.Line,
					Message: fmt.Sprintf("more than %d values, aliases written out: shorten the list", maxNodes),
				}
			}
		}
		sizes[node] = size
		return size, nil
	}
	_, problem := measure(document)
	return problem
}

// resolve is the value that a node stands for. Once checkExpansion has passed, aliases lead to an end.
func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}
