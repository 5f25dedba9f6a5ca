// Package buildinfo has the versions of lockbench and of the modules that the program was built
// with.
package buildinfo

import (
	"cmp"
	"runtime/debug"
)

// module is lockbench's own module; a program that uses its packages is another.
const module = "github.com/lockbench/lockbench"

// devel is the version that the go command gives to a build of unknown origin.
const devel = "(devel)"

// release is the version of builds from a source that is no Git clone, in the Dockerfile and in the
// GitHub action: the go command stamps no version into them. They set it by -ldflags -X.
var release string

// Version returns the version of lockbench, also in a program that uses its packages: the tag of a
// release; for another commit, the pseudo-version that the go command derives from the tag before
// it, with +dirty if files were changed; for a source without a repository "(devel)". Go stamps it
// into a build in a Git clone with VCS stamping on, and into one of go install module@version.
func Version() string {
	info, known := debug.ReadBuildInfo()
	return version(info, known, release)
}

func version(info *debug.BuildInfo, known bool, release string) string {
	if !known {
		return cmp.Or(release, "unknown")
	}
	if info.Main.Path != module {
		return moduleOf(info, module)
	}
	if v := info.Main.Version; v != "" && v != devel {
		return v
	}
	return cmp.Or(release, devel)
}

// Commit returns the first twelve digits of the commit, empty if the build does not know it.
func Commit() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return ""
}

// Module returns the version of a module that this program was built with, "unknown" if the build
// does not know it.
func Module(path string) string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return "unknown"
	}
	return moduleOf(info, path)
}

func moduleOf(info *debug.BuildInfo, path string) string {
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
