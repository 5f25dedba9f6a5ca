package impls

import (
	_ "embed"
	"path"
	"strings"
)

// versions has a line "folder digest" for each folder of designs. The digest is of its Go
// code, and of that in internal which it imports, without comments. A test keeps it true.
//
//go:embed versions.txt
var versions string

// Version returns the version of a design of the catalogue, empty for a name that is not in it. The
// version changes with the code or the library of the design.
func Version(name string) string {
	for _, d := range All() {
		if d.Name != name {
			continue
		}
		for line := range strings.Lines(versions) {
			if folder, digest, _ := strings.Cut(strings.TrimSpace(line), " "); folder == path.Dir(name) {
				_, library, _ := strings.Cut(d.Library, "@")
				return strings.TrimPrefix(library+"+"+digest, "+")
			}
		}
	}
	return ""
}
