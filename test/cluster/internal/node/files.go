//go:build linux

package node

import (
	"embed"
	"os"
)

// files are the configuration of the node's programs.
//
//go:embed files
var files embed.FS

// writeFiles puts the configuration where the programs read it: stateDir/files.
func writeFiles() error { return os.CopyFS(stateDir, files) }
