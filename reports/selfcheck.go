package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// selfCheck says so when a lock broken on purpose was not caught; a page, when it was, too.
func (s *summary) selfCheck() document.Block { return selfCheckBlock(s.result.SelfCheck) }

func selfCheckBlock(c *results.SelfCheck) document.Block {
	switch {
	case c == nil:
		return document.Only(0)
	case c.Caught:
		return document.Only(document.Page, line(fmt.Sprintf("A lock that is broken on purpose (%s) was caught breaking %s under the same settings.", c.Design, c.MustBreak)))
	}
	return document.Only(0, &document.List{Items: []document.Item{{Word: "self-check:", Tone: document.Bad,
		Text: fmt.Sprintf("a lock broken on purpose was NOT caught breaking %s: %s", c.MustBreak, c.Reason())}}})
}
