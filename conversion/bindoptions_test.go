package conversion

import (
	"slices"
	"strings"
	"testing"
)

func TestOptionFault(t *testing.T) {
	for sentence, test := range map[string]struct{ option, want string }{
		"a plain statement":                  {"minimal-responses yes;", ""},
		"spaces around it":                   {"  minimal-responses yes ;  ", ""},
		"a statement with braces":            {"rate-limit { responses-per-second 10; exempt-clients { 10.0.0.0/8; }; };", ""},
		"a quotation with everything in it":  {`dump-file "/tmp/{#//;\"}";`, ""},
		"a path is no comment":               {"dump-file /var/dump;", ""},
		"no semicolon":                       {"minimal-responses yes", "does not end with a semicolon"},
		"a semicolon within braces only":     {"rate-limit { window 5; }", "does not end with a semicolon"},
		"a brace left open":                  {"rate-limit { window 5;", "a brace that it does not close"},
		"a brace that ends the block":        {"minimal-responses yes; }; zone x {", "more than one statement"},
		"a brace too many":                   {"rate-limit } {;", "a brace that it has not opened"},
		"two statements":                     {"minimal-responses yes; recursion yes;", "more than one statement"},
		"two semicolons":                     {"minimal-responses yes;;", "more than one statement"},
		"a quotation left open":              {`dump-file "x;`, "a quotation that it does not close"},
		"a quotation that ends escaped":      {`dump-file "x\";`, "a quotation that it does not close"},
		"a line break":                       {"minimal-responses yes;\nrecursion yes;", "a line break"},
		"a carriage return":                  {"minimal-responses\ryes;", "a line break"},
		"a comment to the end of the line":   {"minimal-responses yes; # no", "a comment"},
		"a comment in the shell's way":       {"minimal-responses # no;", "a comment"},
		"a comment in C++'s way":             {"minimal-responses // no;", "a comment"},
		"a comment in C's way":               {"minimal-responses /* no */ yes;", "a comment"},
		"nothing":                            {"", "does not begin with the name of an option"},
		"a semicolon alone":                  {";", "does not begin with the name of an option"},
		"a quoted name":                      {`"recursion" yes;`, "does not begin with the name of an option"},
		"a reserved option":                  {"recursion yes;", "recursion is set by the operator"},
		"a reserved option in capitals":      {"RECURSION yes;", "RECURSION is set by the operator"},
		"a reserved option against a brace":  {"listen-on{any;};", "listen-on is set by the operator"},
		"an option that begins like another": {"notify-source 10.0.0.1;", ""},
		"a file brought in inside a block":   {`rate-limit { Include "/etc/passwd"; };`, "brings in another file"},
		"a file that is brought in":          {`include "/etc/passwd";`, "include is set by the operator"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := optionFault(test.option)
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want a message with %q", got, test.want)
			}
		})
	}
}

func TestReservedOptionsAreLowerCaseAndSorted(t *testing.T) {
	for _, option := range ReservedOptions {
		if optionWord.FindString(option) != option || strings.ToLower(option) != option {
			t.Errorf("%q cannot be the first word of a statement as it is compared", option)
		}
	}
	if !slices.IsSorted(ReservedOptions) {
		t.Error("they are not in the order of the alphabet")
	}
}
