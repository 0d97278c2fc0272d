//go:build !linux

// Command cluster needs Linux: it is made of namespaces, control groups and containers.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "cluster: this works on Linux only")
	os.Exit(1)
}
