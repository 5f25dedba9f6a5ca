package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerdictsLiveInFindings checks that outside of the checker no struct has a field of type
// checker.Verdict. A type with the verdict on a cell embeds checker.Finding, so that there is one
// way to add findings, to read them and to write them.
func TestVerdictsLiveInFindings(t *testing.T) {
	const root = "../../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || path == filepath.Join(root, "checker")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, complaint := range verdictFields(file) {
			t.Errorf("%s: %s has the type checker.Verdict; hint: embed checker.Finding", path, complaint)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("read %d files, want all: %v", files, err)
	}
}

// TestVerdictFieldsAreFound checks that a field is found in named and in anonymous structs, alone
// and behind a pointer, a list or a map.
func TestVerdictFieldsAreFound(t *testing.T) {
	for source, want := range map[string]int{
		`type t struct { verdict checker.Verdict }`:                         1,
		`type t struct { a, b checker.Verdict }`:                            2,
		`type t struct { checker.Verdict }`:                                 1,
		`type t struct { all map[string][]*checker.Verdict }`:               1,
		`func f() { _ = struct { v checker.Verdict }{} }`:                   1,
		`type t struct { checker.Finding }`:                                 0,
		`type t struct { match func(checker.Verdict) bool; v verdict }`:     0,
		`func f(v checker.Verdict) checker.Verdict { var w = v; return w }`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "t.go", "package p\n"+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictFields(file); len(got) != want {
			t.Errorf("%s: got %q, want %d", source, got, want)
		}
	}
}

// verdictFields lists the fields of structs that hold a checker.Verdict.
func verdictFields(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, is := n.(*ast.StructType)
		if !is {
			return true
		}
		for _, f := range s.Fields.List {
			if !holdsVerdict(f.Type) {
				continue
			}
			if len(f.Names) == 0 {
				all = append(all, "an embedded field")
			}
			for _, name := range f.Names {
				all = append(all, "the field "+name.Name)
			}
		}
		return true
	})
	return all
}

func holdsVerdict(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		of, is := e.X.(*ast.Ident)
		return is && of.Name == "checker" && e.Sel.Name == "Verdict"
	case *ast.StarExpr:
		return holdsVerdict(e.X)
	case *ast.ArrayType:
		return holdsVerdict(e.Elt)
	case *ast.MapType:
		return holdsVerdict(e.Key) || holdsVerdict(e.Value)
	}
	return false
}
