package conversion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblemsInError bounds the text of Problems.Error, which ends up in conditions and admission responses.
const maxProblemsInError = 50

// Problem is one fault in what somebody wrote about pools, and how to mend it.
type Problem struct {
	// Line of the pools text, counted from 1. 0 when there is no text or the fault has no place in it.
	Line int
	// Pool is the name of the pool at fault; empty when it has none or the fault is not one pool's.
	Pool string
	// Field is the path of the value at fault, as in nsRecords[0].hostname; empty when it is not one value's.
	Field string
	// Message says what is wrong and how to mend it, on one line: what it repeats of somebody's text is quoted.
	Message string
}

// String is the problem on one line, such as `line 2: pool "default": bindReplicas: must be a whole number`.
func (p Problem) String() string {
	parts := make([]string, 0, 4)
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", p.Line))
	}
	if p.Pool != "" {
		parts = append(parts, "pool "+quote(p.Pool))
	}
	if p.Field != "" {
		parts = append(parts, p.Field)
	}
	return strings.Join(append(parts, p.Message), ": ")
}

// Problems are all faults of one text or object.
type Problems []Problem //nolint:errname // said of warnings too, which are no errors

// Error lists the problems on one line.
func (ps Problems) Error() string {
	shown := ps[:min(len(ps), maxProblemsInError)]
	texts := make([]string, 0, len(shown)+1)
	for _, p := range shown {
		texts = append(texts, p.String())
	}
	if left := len(ps) - len(shown); left > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(texts, "; ")
}

// Err is the problems as an error, sorted by line, or nil when there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.byLine()
}

func (ps Problems) byLine() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return sorted
}

// lines is each problem as a text of its own, sorted by line.
func (ps Problems) lines() []string {
	if len(ps) == 0 {
		return nil
	}
	texts := make([]string, 0, len(ps))
	for _, p := range ps.byLine() {
		texts = append(texts, p.String())
	}
	return texts
}
