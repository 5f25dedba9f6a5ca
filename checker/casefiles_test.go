package checker

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

var caseFolder = flag.String("cases", "", "write the cases of testdata/cases.txt as JSON Lines into this folder")

// orderless is about the order of what shares a stamp, which a file does not keep.
const orderless = "nested/same-stamps-in-a-row"

// TestCasesAsFiles writes the cases to files, for bench/corpus.sh: what is said of one
// case about guarantees that it does not name is compared there.
func TestCasesAsFiles(t *testing.T) {
	if *caseFolder == "" {
		t.Skip("no folder given; hint: -cases DIR")
	}
	archive, err := txtar.ParseFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		path, c := filepath.Join(*caseFolder, filepath.FromSlash(file.Name)+".jsonl"), parseText(t, string(file.Data))
		c.header.Schema, c.header.Design = history.Schema, file.Name
		if err := writeCase(path, c.source()); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		if file.Name != orderless {
			wantOfFile(t, path, c.want)
		}
	}
}

// wantOfFile fails where a file is not judged as the text that it was written from.
func wantOfFile(t *testing.T, path string, wanted map[lockbench.Guarantee]string) {
	t.Helper()
	src, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(src)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for g, want := range wanted {
		if got := r.Find(g).Verdict.String(); got != want {
			t.Errorf("%s: %s: got %s, want %s", path, g, got, want)
		}
	}
}

func writeCase(path string, m memory) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return history.WriteJSONL(f, m)
}
