package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCrossCheckErrsOnItsOwn: of package interval the cross-check uses nothing but how single
// operations are read. A must-hold interval that both computed with the same code would be wrong
// in both.
func TestCrossCheckErrsOnItsOwn(t *testing.T) {
	const folder = "../../../checker/internal/"
	shared := declared(t, folder+"interval/stamp.go", folder+"interval/lease.go")
	if !slices.Contains(shared, "Stamp") || !slices.Contains(shared, "Rules") || slices.Contains(shared, "Grant") {
		t.Fatalf("stamps and leases declare %q, want Stamp and Rules among them, and no Grant", shared)
	}
	files, err := filepath.Glob(folder + "crosscheck/*.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %q: %v", files, err)
	}
	used := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(parsed(t, path), func(n ast.Node) bool {
			s, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if of, is := s.X.(*ast.Ident); is && of.Name == "interval" {
				used++
				if !slices.Contains(shared, s.Sel.Name) {
					t.Errorf("%s uses interval.%s; hint: stamp.go and lease.go of package interval are shared, and no more", path, s.Sel.Name)
				}
			}
			return true
		})
	}
	if used == 0 {
		t.Error("the cross-check uses nothing of package interval: this test reads it no longer")
	}
}

// declared lists the functions, types, variables and constants that files declare at the top.
func declared(t *testing.T, paths ...string) (names []string) {
	t.Helper()
	for _, path := range paths {
		for _, d := range parsed(t, path).Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names = append(names, n.Name)
						}
					}
				}
			}
		}
	}
	return names
}

func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
