// Command poolctl judges and renders the ConfigMap designate-multipool-config without a cluster, by the same code that
// the operator runs.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
