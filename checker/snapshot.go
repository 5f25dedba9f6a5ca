package checker

// News returns the findings on cells that broke, or broke against the claims, for the first time
// since the last call of News. It is for callers that judge a history while it is being recorded: a
// broken cell stays broken. The counts and counterexamples cover the history so far. A call without
// news takes a few nanoseconds, so that News can be called after every event.
func (c *Checker) News() []CellFinding {
	if c.violations == c.violationsSeen {
		return nil
	}
	c.violationsSeen = c.violations
	var news []CellFinding
	for p := range guaranteeCount {
		for i := range c.tallies[p].Rows {
			if r := &c.tallies[p].Rows[i]; r.News() {
				news = append(news, c.find(p, r))
			}
		}
	}
	return news
}

// Violations returns the number of violations so far in the cells that [Checker.News] reported.
func (c *Checker) Violations() (n int64) {
	for p := range guaranteeCount {
		for i := range c.tallies[p].Rows {
			if r := &c.tallies[p].Rows[i]; r.WasNews() {
				n += r.Violations
			}
		}
	}
	return n
}

// SoFar returns the counts, exposures and violations so far, which never fall. It is for callers
// that judge a history while it is being recorded. Its findings have no measures and no
// counterexample.
func (c *Checker) SoFar() Result {
	r := c.result
	r.Findings = c.findings(nil, c.countsOf)
	return r
}
