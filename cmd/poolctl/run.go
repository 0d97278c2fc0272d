package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK      = 0
	exitInvalid = 1
	// exitUsage is for a command line that cannot be followed, unreadable files included.
	exitUsage = 2
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// complain writes one line about a command line or file to the standard error.
func (s streams) complain(format string, args ...any) {
	fmt.Fprintf(s.err, "poolctl: "+format+"\n", args...)
}

// command is one of poolctl's subcommands.
type command struct {
	name string
	// arguments as the usage line shows them.
	arguments string
	summary   string
	details   string
	// prepare binds the command's flags and gives what to run with the arguments that are left.
	prepare func(flags *pflag.FlagSet) func(arguments []string, s streams) int
}

// flags is the command's flag set, and what to run once it has been parsed.
func (c command) flags() (flags *pflag.FlagSet, execute func([]string, streams) int) {
	flags = pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.SortFlags = false
	return flags, c.prepare(flags)
}

func (c command) help() string {
	text := fmt.Sprintf("Usage: poolctl %s %s\n\n%s\n", c.name, c.arguments, strings.TrimSpace(c.details))
	flags, _ := c.flags()
	if usages := flags.FlagUsages(); usages != "" {
		text += "\nFlags:\n" + usages
	}
	return text
}

func commands() []command { return []command{validateCommand, renderCommand} }

// run is poolctl with these arguments. It gives the exit code.
func run(arguments []string, s streams) int {
	if len(arguments) == 0 {
		fmt.Fprint(s.err, usage())
		return exitUsage
	}
	switch name, rest := arguments[0], arguments[1:]; name {
	case "help", "--help", "-h":
		return help(rest, s)
	case "version", "--version":
		if len(rest) > 0 {
			return unexpected(s, "", "version takes no arguments")
		}
		fmt.Fprintln(s.out, "poolctl "+version())
		return exitOK
	default:
		c, known := find(name)
		if !known {
			return unexpected(s, "", fmt.Sprintf("%q is not a command", name))
		}
		return c.run(rest, s)
	}
}

func (c command) run(arguments []string, s streams) int {
	flags, execute := c.flags()
	switch err := flags.Parse(arguments); {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(s.out, c.help())
		return exitOK
	case err != nil:
		return unexpected(s, c.name, err.Error())
	}
	return execute(flags.Args(), s)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func help(topics []string, s streams) int {
	if len(topics) == 0 {
		fmt.Fprint(s.out, usage())
		return exitOK
	}
	c, known := find(topics[0])
	if !known || len(topics) > 1 {
		return unexpected(s, "", fmt.Sprintf("there is no help on %q", strings.Join(topics, " ")))
	}
	fmt.Fprint(s.out, c.help())
	return exitOK
}

// unexpected says what is wrong with a command line, and where to read about it.
func unexpected(s streams, name, message string) int {
	if name == "" {
		s.complain("%s; see poolctl help", message)
	} else {
		s.complain("%s: %s; see poolctl help %s", name, message, name)
	}
	return exitUsage
}

func usage() string {
	var text strings.Builder
	text.WriteString("poolctl judges and renders the ConfigMap designate-multipool-config without a cluster.\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-10s%s\n", c.name, c.summary)
	}
	text.WriteString("  version   Print the version of poolctl\n  help      Explain a command: poolctl help validate\n")
	return text.String()
}

// version is that of the module, as the Go toolchain has recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
