package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// matrixComparisonDocument returns the report of a comparison of two matrices.
func matrixComparisonDocument(c *results.MatrixComparison) *document.Document {
	d := &document.Document{Kind: "matrix comparison", Title: c.With, Exit: c.Exit, Tone: exitTone(c.Exit)}
	l := &document.List{Title: "compared with " + c.With}
	for _, s := range c.Worse {
		l.Items = append(l.Items, document.Item{Word: "worse", Tone: document.Bad, Text: matrixChangeString(s)})
	}
	for _, s := range c.Better {
		l.Items = append(l.Items, document.Item{Word: "better", Tone: document.Good, Text: matrixChangeString(s)})
	}
	for _, s := range c.Weaker {
		l.Items = append(l.Items, document.Item{Word: "weaker", Tone: document.Weak, Text: s.String()})
	}
	for _, s := range c.New {
		l.Items = append(l.Items, document.Item{Word: "new", Text: s})
	}
	for _, s := range c.Gone {
		l.Items = append(l.Items, document.Item{Word: "gone", Text: s})
	}
	for _, s := range c.Notes {
		l.Items = append(l.Items, document.Item{Text: s})
	}
	if len(l.Items) == 0 {
		l.Items = []document.Item{{Text: "no cell differs"}}
	}
	d.Blocks = []document.Block{l}
	switch c.Exit {
	case results.Passed:
		d.Headline = "No cell is worse"
	case results.BrokenClaim:
		d.Headline = figures.Plural(int64(len(c.Worse)), "cell") + " worse"
	case results.FailedThreshold:
		d.Headline = figures.Plural(int64(len(c.Weaker)), "claim") + " weaker"
	default:
		d.Headline, d.Why = "Inconclusive", "not everything was run, or a lock broken on purpose was not caught"
	}
	return d
}

// matrixChangeString returns the changed cell with its verdicts before and after.
func matrixChangeString(s results.MatrixChange) string {
	return fmt.Sprintf("%s %s: %s -> %s", s.Design, s.Cell, standingWords(s.Was), standingWords(s.Is))
}

func standingWords(f results.Finding) string {
	if f.Fails() {
		return "broken, though claimed"
	}
	return verdictWords(f)
}
