package architecture

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestOtherSystems checks the types of all packages, their tests and what they import, from source, for the
// other systems of a release.
func TestOtherSystems(t *testing.T) {
	longtest.Only(t)
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode:  packages.LoadAllSyntax,
				Dir:   "../../..",
				Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
				Tests: true,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < 100 {
				t.Errorf("%d packages, want 100 or more", len(all))
			}
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Errorf("%s: %v", p.ID, e)
				}
			})
		})
	}
}
