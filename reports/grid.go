package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A grid shows verdicts, guarantees down and designs across.
type grid struct {
	palette
	runs  []Run
	rows  []lockbench.Guarantee // those of which some run has something to say
	first int                   // width of the first column
}

func newGrid(p palette, runs []Run) *grid {
	g := &grid{palette: p, runs: runs, first: len("guarantee")}
	for _, info := range lockbench.Guarantees() {
		for i := range runs {
			if word, _ := verdictWord(runs[i].Guarantees[info.Name]); word != "" && word != "-" {
				g.rows = append(g.rows, info.Name)
				g.first = max(g.first, len(info.Name))
				break
			}
		}
	}
	return g
}

// verdictWord is a cell: empty where nothing was exercised. It returns how to
// colour it, too.
func verdictWord(g Guarantee) (string, func(palette, string) string) {
	word, paint := g.Verdict.String(), func(_ palette, s string) string { return s }
	switch g.Verdict {
	case checker.NotApplicable:
		return "-", paint
	case checker.Untested:
		if !g.Exercised {
			return "", paint
		}
		paint = palette.warn
	case checker.Hazard:
		paint = palette.warn
	case checker.Held:
		paint = palette.good
	case checker.Broken:
		paint = palette.warn
		if g.Claimed {
			paint = palette.bad
		}
	}
	if g.Claimed {
		word += "*"
	}
	return word, paint
}

// names are the two lines over a design's column: family and variant.
func names(design string) (family, variant string) {
	family, variant, split := strings.Cut(design, "/")
	if !split {
		return "", family
	}
	return family, variant
}

// columnWidth is that of a design's name, and of the longest cell at least.
func columnWidth(design string) int {
	family, variant := names(design)
	return max(len(family), len(variant), len("untested*"))
}

// fitting is how many of the runs left fit into so many characters, at least one.
func (g *grid) fitting(limit int) int {
	used := g.first
	for i := range g.runs {
		if used += 2 + columnWidth(g.runs[i].Design); used > limit && i > 0 {
			return i
		}
	}
	return len(g.runs)
}

func (g *grid) write(w io.Writer, runs []Run) {
	above, head := strings.Repeat(" ", g.first), fmt.Sprintf("%-*s", g.first, "guarantee")
	length := g.first
	for i := range runs {
		family, variant := names(runs[i].Design)
		width := columnWidth(runs[i].Design)
		above += fmt.Sprintf("  %-*s", width, family)
		head += fmt.Sprintf("  %-*s", width, variant)
		length += 2 + width
	}
	fmt.Fprintf(w, "%s\n%s\n%s\n", strings.TrimRight(above, " "), strings.TrimRight(head, " "), strings.Repeat("─", length))
	for _, name := range g.rows {
		fmt.Fprintln(w, g.row(name, runs))
	}
}

func (g *grid) row(name lockbench.Guarantee, runs []Run) string {
	line, gap := string(name), g.first-len(name)
	for i := range runs {
		word, paint := verdictWord(runs[i].Guarantees[name])
		if word != "" {
			line += strings.Repeat(" ", gap+2) + paint(g.palette, word)
			gap = -2
		}
		gap += 2 + columnWidth(runs[i].Design) - len(word)
	}
	return line
}
