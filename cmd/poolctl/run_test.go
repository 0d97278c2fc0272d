package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// result is what a run of poolctl gives.
type result struct {
	Code     int
	Out, Err string
}

// poolctl runs in a directory with these files.
func poolctl(t *testing.T, files map[string]string, stdin string, arguments ...string) result {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, err bytes.Buffer
	code := run(arguments, streams{in: strings.NewReader(stdin), out: &out, err: &err})
	return result{Code: code, Out: out.String(), Err: err.String()}
}

func TestCommandLine(t *testing.T) {
	seeHelp := func(text string) result { return result{Code: 2, Err: "poolctl: " + text + "\n"} }
	for sentence, test := range map[string]struct {
		arguments []string
		want      result
	}{
		"no command":            {nil, result{Code: 2, Err: usage()}},
		"help":                  {[]string{"help"}, result{Out: usage()}},
		"help as a flag":        {[]string{"--help"}, result{Out: usage()}},
		"help as a short flag":  {[]string{"-h"}, result{Out: usage()}},
		"help on a command":     {[]string{"help", "validate"}, result{Out: validateCommand.help()}},
		"a command's help flag": {[]string{"render", "--help"}, result{Out: renderCommand.help()}},
		"help on what is none":  {[]string{"help", "apply"}, seeHelp(`there is no help on "apply"; see poolctl help`)},
		"help on two things": {
			[]string{"help", "render", "validate"},
			seeHelp(`there is no help on "render validate"; see poolctl help`),
		},
		"an unknown command":       {[]string{"apply"}, seeHelp(`"apply" is not a command; see poolctl help`)},
		"version":                  {[]string{"version"}, result{Out: "poolctl " + version() + "\n"}},
		"version as a flag":        {[]string{"--version"}, result{Out: "poolctl " + version() + "\n"}},
		"version with an argument": {[]string{"version", "x"}, seeHelp("version takes no arguments; see poolctl help")},
		"validate without a file": {
			[]string{"validate"},
			seeHelp("validate: name a file, or - for the standard input; see poolctl help validate"),
		},
		"validate with a flag": {
			[]string{"validate", "--strict", "x"},
			seeHelp("validate: unknown flag: --strict; see poolctl help validate"),
		},
		"render with an empty flag": {
			[]string{"render", "x", "--primary"},
			seeHelp("render: flag needs an argument: --primary; see poolctl help render"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, poolctl(t, nil, "", test.arguments...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelpNamesEveryCommandAndFlag(t *testing.T) {
	for text, words := range map[string][]string{
		usage():                {"validate", "render", "version", "help"},
		validateCommand.help(): {"Usage: poolctl validate FILE...", "exit code"},
		renderCommand.help(): {
			"Usage: poolctl render FILE", "--primary", "--server-cidr", "--rndc-key-directory", "--default-pool-id", "--namespace",
			defaultPoolID, defaultRNDCKeyDirectory,
		},
	} {
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%q is not in:\n%s", word, text)
			}
		}
	}
}
