package conversion

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// ReservedOptions are the statements that bind.options may not hold: those that the operator sets itself, and those
// that belong outside the options block or would bring in another file.
var ReservedOptions = []string{
	"allow-new-zones",
	"allow-notify",
	"allow-query",
	"allow-transfer",
	"controls",
	"directory",
	"dnssec-validation",
	"hostname",
	"include",
	"key",
	"listen-on",
	"listen-on-v6",
	"notify",
	"options",
	"pid-file",
	"recursion",
	"server",
	"session-keyfile",
	"statistics-channels",
	"version",
	"view",
	"zone",
}

var (
	optionWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*`)
	// includeWord is the statement that brings in another file, which BIND takes inside of blocks too.
	includeWord = regexp.MustCompile(`(?i)(^|[^A-Za-z0-9_.-])include([^A-Za-z0-9_.-]|$)`)
)

// validateOptions judges the statements that people add to the options block of named.conf. Each must stay one
// statement within that block, whatever it holds.
func validateOptions(options []string) Problems {
	var problems Problems
	for i, option := range options {
		if message := optionFault(option); message != "" {
			problems = append(problems, Problem{Field: fmt.Sprintf("options[%d]", i), Message: message})
		}
	}
	return problems
}

func optionFault(option string) string {
	if strings.ContainsFunc(option, unicode.IsControl) {
		return "holds a line break or another control character: write the statement on one line"
	}
	statement := strings.Trim(option, " ")
	word := optionWord.FindString(statement)
	if word == "" {
		return quote(option) + " does not begin with the name of an option, as in minimal-responses yes;"
	}
	if slices.Contains(ReservedOptions, strings.ToLower(word)) {
		return word + " is set by the operator or belongs elsewhere: remove the statement"
	}
	return statementFault(statement)
}

// statementFault finds what would end a statement early or not at all.
func statementFault(statement string) string {
	bare, closed := withoutQuotations(statement)
	if !closed {
		return `opens a quotation that it does not close: add the "`
	}
	if strings.Contains(bare, "#") || strings.Contains(bare, "//") || strings.Contains(bare, "/*") {
		return "holds a comment: remove it"
	}
	if includeWord.MatchString(bare) {
		return "brings in another file with include: write its statements here"
	}
	return endFault(bare)
}

// endFault makes sure that a statement ends with its last character.
func endFault(bare string) string {
	depth, ended := 0, false
	for _, c := range bare {
		switch {
		case ended:
			return "holds more than one statement: give each an entry of its own"
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return "closes a brace that it has not opened: remove the }"
		case c == '}':
			depth--
		case c == ';' && depth == 0:
			ended = true
		}
	}
	switch {
	case depth > 0:
		return "opens a brace that it does not close: add the }"
	case !ended:
		return "does not end with a semicolon: add it"
	}
	return ""
}

// withoutQuotations empties the quotations of a statement, in which no character but the backslash and the closing quote
// means anything to BIND.
func withoutQuotations(statement string) (bare string, closed bool) {
	var text strings.Builder
	quoted := false
	for i := 0; i < len(statement); i++ {
		c := statement[i]
		if quoted && c == '\\' {
			i++
			continue
		}
		if c == '"' {
			quoted = !quoted
		}
		if !quoted || c == '"' {
			text.WriteByte(c)
		}
	}
	return text.String(), !quoted
}
