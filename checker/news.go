package checker

// News returns what has turned out to be broken since it was asked the last time, each
// guarantee once: for those who judge a history while it is being recorded. What is
// broken stays so, whatever comes later; violations and witness are those so far. It
// costs next to nothing while there is none, so it can be asked after every event.
func (c *Checker) News() []Finding {
	if c.convictions == c.told {
		return nil
	}
	c.told = c.convictions
	var news []Finding
	for _, g := range guarantees {
		t := c.tallies[g.Name]
		if t.violations == 0 || t.told {
			continue
		}
		if f := c.find(g.Name); f.Verdict == Broken {
			t.told = true
			news = append(news, f)
		}
	}
	return news
}

// Violations returns how many violations there were so far of what [Checker.News] told.
func (c *Checker) Violations() (n int64) {
	for _, t := range c.tallies {
		if t.told {
			n += t.violations
		}
	}
	return n
}

// SoFar returns what was counted and found so far, for those who judge a history while
// it is being recorded: counts, exposures and violations, which only rise. Findings have
// no measures and no witness.
func (c *Checker) SoFar() Result {
	r := c.result
	r.Findings = make([]Finding, 0, len(guarantees))
	for _, g := range guarantees {
		r.Findings = append(r.Findings, c.judged(g.Name))
	}
	return r
}
