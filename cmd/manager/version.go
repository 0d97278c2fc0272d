package main

import (
	"fmt"
	"runtime/debug"
)

// version tells which build this is, as the Go toolchain recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	settings := make(map[string]string, len(info.Settings))
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text += " " + revision
	}
	if settings["vcs.modified"] == "true" {
		text += " (modified)"
	}
	return fmt.Sprintf("%s %s", text, info.GoVersion)
}
