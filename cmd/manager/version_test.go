package main

import (
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	tests := map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"a released module": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}},
			want: "v1.2.3 go1.26.8",
		},
		"a build from a clone with changes": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "5978256"}, {Key: "vcs.modified", Value: "true"},
			}},
			want: "(devel) 5978256 (modified) go1.26.8",
		},
		"a build that nothing is known of": {
			info: debug.BuildInfo{GoVersion: "go1.26.8"},
			want: "(devel) go1.26.8",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := describe(&test.info); got != test.want {
				t.Errorf("describe() = %q, want %q", got, test.want)
			}
		})
	}
}
