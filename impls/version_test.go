package impls

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"hash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write versions.txt anew")

// TestVersions checks that versions.txt has the digest of each folder's code. If the code has
// changed, the released matrix does not apply to the folder's designs until it is made again.
func TestVersions(t *testing.T) {
	var want strings.Builder
	var folders []string
	for _, name := range Names() {
		if folder := path.Dir(name); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
			fmt.Fprintf(&want, "%s %s\n", folder, digest(t, folder))
		}
	}
	if *update {
		if err := os.WriteFile("versions.txt", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		versions = want.String()
	}
	if versions != want.String() {
		t.Errorf("versions.txt is not that of the code; hint: go test ./impls -run TestVersions -update\ngot:\n%swant:\n%s", versions, want.String())
	}
	for _, d := range All() {
		if Version(d.Name) == "" {
			t.Errorf("%s has no version", d.Name)
		}
	}
	if got := Version("nobody/knows"); got != "" {
		t.Errorf("of no design: got %q, want none", got)
	}
}

// digest returns the digest of all tokens of a folder's Go files, and of the folders of internal that
// they import, without tests and comments.
func digest(t *testing.T, folder string) string {
	sum := sha256.New()
	files := code(t, folder)
	for _, file := range files {
		digestFile(t, sum, file)
	}
	for _, shared := range shared(t, files) {
		for _, file := range code(t, shared) {
			digestFile(t, sum, file)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:8]
}

// code returns the Go files of a folder without tests.
func code(t *testing.T, folder string) []string {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no code, %v", folder, err)
	}
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
}

// shared returns the folders of internal that files import, in order.
func shared(t *testing.T, files []string) (folders []string) {
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			if _, folder, is := strings.Cut(strings.Trim(i.Path.Value, `"`), "/impls/internal/"); is {
				folders = append(folders, "internal/"+folder)
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

func digestFile(t *testing.T, sum hash.Hash, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile(file, set.Base(), len(text)), text, nil, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		fmt.Fprintln(sum, tok, literal)
	}
}
