package checker

// News returns what has turned out to be broken since it was asked the last time, each
// cell once, and once more where that first counts against the claims: for callers that judge a history while it is being recorded. What is broken
// stays so, whatever comes later; violations and counterexample are those so far. It costs
// next to nothing while there is none, so it can be asked after every event.
func (c *Checker) News() []Finding {
	if c.violations == c.seen {
		return nil
	}
	c.seen = c.violations
	var news []Finding
	for p := range promises {
		for i := range c.tallies[p].Rows {
			if r := &c.tallies[p].Rows[i]; r.News() {
				news = append(news, c.find(p, r))
			}
		}
	}
	return news
}

// Violations returns how many violations there were so far of what [Checker.News] reported.
func (c *Checker) Violations() (n int64) {
	for p := range promises {
		for i := range c.tallies[p].Rows {
			if r := &c.tallies[p].Rows[i]; r.WasNews() {
				n += r.Violations
			}
		}
	}
	return n
}

// SoFar returns what was counted and found so far, for callers that judge a history while
// it is being recorded: counts, exposures and violations, which only rise. Findings have
// no measures and no counterexample.
func (c *Checker) SoFar() Result {
	r := c.result
	r.Findings = c.findings(nil, c.judged)
	return r
}
