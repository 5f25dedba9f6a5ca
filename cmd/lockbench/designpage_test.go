package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/impls"
)

const designPage = "../../docs/designs.md"

var (
	designHeading    = regexp.MustCompile(`(?m)^### (\S+/\S+)$`)
	sourceDocument   = regexp.MustCompile(`\bD[0-4]\b`)
	definedDocuments = regexp.MustCompile(`<a id="d[0-4]"></a>(D[0-4])`)
)

// TestDesignPage checks that docs/designs.md has a section for every design of the
// catalogue, in its order, and for no other. Each section names the library that the
// design uses, as go.mod has it, or the source documents that the design names, which the
// page defines.
func TestDesignPage(t *testing.T) {
	t.Parallel()
	text := contents(t, designPage)
	var named []string
	for _, m := range designHeading.FindAllStringSubmatch(text, -1) {
		named = append(named, m[1])
	}
	if diff := cmp.Diff(named, impls.Names()); diff != "" {
		t.Fatalf("sections of docs/designs.md (-got +want); hint: a design has a section \"### family/variant\":\n%s", diff)
	}
	var defined []string
	for _, m := range definedDocuments.FindAllStringSubmatch(text, -1) {
		defined = append(defined, m[1])
	}
	sections := designHeading.Split(text, -1)[1:]
	for i, d := range impls.All() {
		want := []string{strings.Replace(d.Library, "@", " ", 1)}
		for _, document := range sourceDocument.FindAllString(d.Source, -1) {
			want = append(want, "["+document+"](#"+strings.ToLower(document)+")")
			if !strings.Contains(strings.Join(defined, " "), document) {
				t.Errorf("%s comes from %s, which docs/designs.md does not define", d.Name, document)
			}
		}
		section, _, _ := strings.Cut(sections[i], "\n## ")
		for _, name := range want {
			if !strings.Contains(section, name) {
				t.Errorf("docs/designs.md: the section of %s does not name its source %q", d.Name, name)
			}
		}
	}
}
