package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)|(?m)^\[[^\]]+\]: (\S+)$`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchor    = regexp.MustCompile(`<a id="([^"]+)">`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks checks that the targets of links within the repository exist, headings
// included.
func TestLinks(t *testing.T) {
	t.Parallel()
	papers := documents(t)
	for _, pattern := range []string{"../../*.md", "../../docs/design/*.md", "../../internal/explore/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, error %v", pattern, found, err)
		}
		papers = append(papers, found...)
	}
	checked := 0
	for _, paper := range papers {
		for _, m := range link.FindAllStringSubmatch(contents(t, paper), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			path, section, _ := strings.Cut(target, "#")
			path = filepath.Join(filepath.Dir(paper), path)
			if strings.HasPrefix(target, "#") {
				path = paper
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s: %v", paper, target, err)
			} else if section != "" && !sections(contents(t, path))[section] {
				t.Errorf("%s links to %s, which has no such heading", paper, target)
			}
		}
	}
	if checked < 40 {
		t.Errorf("the papers have %d links, want 40 at least: has their form changed?", checked)
	}
}

// sections returns the names of the headings and anchors of a paper in links, in
// GitHub's form.
func sections(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}
