package architecture

import (
	"bytes"
	"os"
	"path"
	"testing"
)

// TestEveryFolderIsOnPaper checks that docs/design/README.md describes each folder with code,
// except the families of impls/ and folders that the description of their parent covers.
func TestEveryFolderIsOnPaper(t *testing.T) {
	paper, err := os.ReadFile("../../docs/design/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list(t) {
		folder := short(p.ImportPath)
		if within := matching(folder); folder == "" || within("impls/*") || within("bench/*") || within("examples/*") || within("cmd/*") || within("internal/stepserver/*") {
			continue
		}
		if name := path.Base(folder); !bytes.Contains(paper, []byte("`"+name+"/`")) && !bytes.Contains(paper, []byte(folder+"`")) && !bytes.Contains(paper, []byte(folder+"/`")) {
			t.Errorf("docs/design/README.md does not name %s/", folder)
		}
	}
}
