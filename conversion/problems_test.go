package conversion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblemLeavesOutWhatIsUnknown(t *testing.T) {
	for want, problem := range map[string]Problem{
		`line 2: pool "default": bindReplicas: is missing`: {Line: 2, Pool: "default", Field: "bindReplicas", Message: "is missing"},
		`pool "a\nb": is missing`:                          {Pool: "a\nb", Message: "is missing"},
		"line 1: is missing":                               {Line: 1, Message: "is missing"},
		"is missing":                                       {Message: "is missing"},
	} {
		if got := problem.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestProblemShortensALongName(t *testing.T) {
	got := Problem{Pool: strings.Repeat("é", maxQuotedLength+1), Message: "is too long"}.String()
	want := fmt.Sprintf("pool %q...: is too long", strings.Repeat("é", maxQuotedLength))
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestProblemsErrIsSortedByLine(t *testing.T) {
	var none Problems
	if err := none.Err(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	err := Problems{{Line: 3, Message: "c"}, {Line: 1, Message: "a"}, {Line: 3, Message: "d"}, {Message: "first"}}.Err()
	if got, want := err.Error(), "first; line 1: a; line 3: c; line 3: d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProblemsErrorIsBounded(t *testing.T) {
	problems := make(Problems, maxProblemsInError+7)
	for i := range problems {
		problems[i] = Problem{Message: fmt.Sprintf("fault %d", i)}
	}
	texts := strings.Split(problems.Error(), "; ")
	if diff := cmp.Diff([]string{"fault 49", "and 7 more"}, texts[len(texts)-2:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var all Problems
	if !errors.As(problems.Err(), &all) || len(all) != len(problems) {
		t.Errorf("the error holds %d problems, want all %d", len(all), len(problems))
	}
}
