package impls

import (
	_ "embed"
	"path"
	"strings"
)

// versions has a line for each folder of designs, "folder digest": of its Go code, comments
// left out. A test keeps it true.
//
//go:embed versions.txt
var versions string

// Version is that of a design of the catalogue: another one where its code or its library is
// another. It is empty for a name that is not in the catalogue.
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
