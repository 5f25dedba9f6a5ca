package reports

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// selfCheck returns a block on the self-check. If the broken lock and all probes were caught, pages
// alone show it.
func (s *summary) selfCheck() document.Block { return selfCheckBlock(s.result.SelfCheck) }

func selfCheckBlock(c *results.SelfCheck) document.Block {
	switch {
	case c == nil:
		return document.Only(0)
	case c.Caught:
		return document.Only(selfCheckMedia(c), probedBlocks(c)...)
	}
	return document.Only(0, &document.List{Items: []document.Item{{Word: "self-check:", Tone: document.Bad,
		Text: fmt.Sprintf("a lock broken on purpose was NOT caught breaking %s: %s", c.MustBreak, c.Reason())}}})
}

// selfCheckMedia returns the media that show the self-check: all if a probe was not caught, else
// pages alone.
func selfCheckMedia(c *results.SelfCheck) document.Media {
	if slices.ContainsFunc(c.Probes, func(p results.Probe) bool { return !p.Caught }) {
		return 0
	}
	return document.Page
}

// probedBlocks returns lines on the lock that was caught, the cell that it broke, and the outcome
// of each probe.
func probedBlocks(c *results.SelfCheck) []document.Block {
	all := []document.Block{line(fmt.Sprintf("A lock that is broken on purpose (%s) was caught breaking %s under the same settings.", c.Design, c.MustBreak))}
	l := &document.List{}
	for _, p := range c.Probes {
		item := document.Item{Word: "self-check:", Tone: document.Good, Text: fmt.Sprintf("%s was caught breaking %s", p.Design, p.MustBreak)}
		if !p.Caught {
			item.Tone = document.Bad
			item.Text = fmt.Sprintf("%s was NOT caught breaking %s: %s; what held under %s counts as untested", p.Design, p.MustBreak, p.Reason(), p.MustBreak.Under)
		}
		l.Items = append(l.Items, item)
	}
	if len(l.Items) == 0 {
		return all
	}
	return append(all, l)
}
