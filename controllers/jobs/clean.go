package jobs

import (
	"regexp"
	"strings"
	"unicode"
)

const hidden = "***"

var (
	// escapes are what colours the lines of a log. No other sequences: they could swallow a letter of a name that is looked for.
	escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// userInfo is what stands before the host of an address. To the last @, for a password may hold one, and an address of
	// the message bus several hosts.
	userInfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)\S*@`)
	// settings are the names of options whose values are nobody's business, in an ini file, JSON, Python or a command line.
	settings = regexp.MustCompile(`(?i)(?:password|passwd|secret|token|transport_url|connection)\w*["']?\s*[=:]\s*`)
	value    = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+)`)
)

// clean is one line as people may see it anywhere: printable, and without what looks like a secret.
func clean(line string) string {
	line = escapes.ReplaceAllString(strings.ToValidUTF8(line, ""), "")
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, line)
	line = userInfo.ReplaceAllString(line, "${1}"+hidden+"@")
	return strings.TrimSpace(withoutValues(line))
}

// withoutValues hides the value after every name of settings, even where a name is itself in the value of another.
func withoutValues(line string) string {
	var text strings.Builder
	done := 0
	for _, name := range settings.FindAllStringIndex(line, -1) {
		start := name[1]
		end := start + len(value.FindString(line[start:]))
		if end <= done || start == end {
			continue
		}
		text.WriteString(line[done:max(done, start)])
		text.WriteString(hidden)
		done = end
	}
	return text.String() + line[done:]
}
