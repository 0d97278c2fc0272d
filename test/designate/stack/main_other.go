//go:build !linux

// Command stack needs Linux: it is made of namespaces and of Debian's packages.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "stack: this works on Linux only")
	os.Exit(1)
}
