package buildinfo

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	stamped := func(v string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module, Version: v}}
	}
	used := debug.BuildInfo{Main: debug.Module{Path: "example.org/shop", Version: "v7.0.0"}, Deps: []*debug.Module{{Path: module, Version: "v1.2.3"}}}
	for _, c := range []struct {
		name    string
		info    *debug.BuildInfo
		release string
		want    string
	}{
		{"a tag", stamped("v1.2.3"), "", "v1.2.3"},
		{"the stamp counts more", stamped("v1.2.4-0.20260131000000-0123456789ab"), "v1.2.3", "v1.2.4-0.20260131000000-0123456789ab"},
		{"no repository", stamped("(devel)"), "v1.2.3", "v1.2.3"},
		{"nothing known", stamped("(devel)"), "", "(devel)"},
		{"part of another program", &used, "", "v1.2.3"},
		{"a test", stamped(""), "", "(devel)"},
		{"no information", nil, "", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := version(c.info, c.info != nil, c.release); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
