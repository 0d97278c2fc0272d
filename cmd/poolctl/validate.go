package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/designate-pools/designate-pool-operator/conversion"
)

var validateCommand = command{
	name:      "validate",
	arguments: "FILE...",
	summary:   "Say whether the operator would take a ConfigMap of pools",
	details: `
Each FILE is a manifest of the ConfigMap designate-multipool-config (among other documents, or in a List), a bare list
of pools, or - for the standard input.

A valid file gives a line on the standard output. On the standard error, each fault has a line of its own,
  FILE:line N: pool "NAME": what is wrong and how to mend it
where N counts the lines of the list of pools, and so has each warning.

The exit code is 0 when all files are valid, 1 when one is not, and 2 when one cannot be read.`,
	prepare: func(*pflag.FlagSet) func([]string, streams) int { return validate },
}

func validate(files []string, s streams) int {
	if len(files) == 0 {
		return unexpected(s, "validate", "name a file, or - for the standard input")
	}
	code := exitOK
	for _, file := range files {
		code = max(code, validateFile(file, s))
	}
	return code
}

func validateFile(file string, s streams) int {
	content, err := readFile(file, s.in)
	if err != nil {
		s.complain("%v", err)
		return exitUsage
	}
	configMaps, err := multipoolConfigMaps(content)
	if err != nil {
		report(file, err, s)
		return exitInvalid
	}
	code := exitOK
	for _, cm := range configMaps {
		config, err := conversion.ParseConfigMap(cm)
		if err != nil {
			report(file, err, s)
			code = exitInvalid
			continue
		}
		warn(file, config.Warnings, s)
		fmt.Fprintf(s.out, "%s: valid, %s\n", file, listing(config.Pools))
	}
	return code
}

// report writes each fault of a file on a line of its own.
func report(file string, err error, s streams) {
	var problems conversion.Problems
	if !errors.As(err, &problems) {
		fmt.Fprintf(s.err, "%s: %s\n", file, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	for _, problem := range problems {
		separator := ":"
		if problem.Line == 0 {
			separator = ": "
		}
		fmt.Fprintf(s.err, "%s%s%s\n", file, separator, problem)
	}
}

func warn(file string, warnings []string, s streams) {
	for _, warning := range warnings {
		fmt.Fprintf(s.err, "%s: warning: %s\n", file, warning)
	}
}

// listing is the number of pools and their names, those in quotes that could be taken for something else.
func listing(pools []conversion.ConfiguredPool) string {
	names := make([]string, 0, len(pools))
	for _, pool := range pools {
		name := pool.Name
		if len(validation.IsDNS1123Label(name)) > 0 {
			name = strconv.Quote(name)
		}
		names = append(names, name)
	}
	noun := "pools"
	if len(pools) == 1 {
		noun = "pool"
	}
	return fmt.Sprintf("%d %s: %s", len(pools), noun, strings.Join(names, ", "))
}
