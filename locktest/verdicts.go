package locktest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// found puts together what all records say of each guarantee, and keeps those that
// somebody should look at.
func (r *trial) found() Trial {
	t := Trial{Seed: r.settings.seed, TTL: r.settings.ttl}
	claims := r.settings.claims.of(r.abilities)
	for _, i := range lockbench.Guarantees() {
		c := Case{Finding: checker.Finding{Guarantee: i.Name, Claimed: slices.Contains(claims, i.Name)}}
		r.find(&c)
		t.Cases = append(t.Cases, c)
	}
	r.tidy(t)
	return t
}

// find fills in a case: the worst of what any record shows.
func (r *trial) find(c *Case) {
	own := r.show(c.Guarantee)
	for _, sh := range r.shows {
		f := sh.result.Find(c.Guarantee)
		if sh != own && f.Verdict != checker.Broken && f.Verdict != checker.Hazard {
			continue // what a play says beside its subject is not made to be counted on
		}
		if c.History == "" || f.Verdict.Graver(c.Verdict) {
			claimed := c.Claimed
			c.Finding, c.History = f, sh.file()
			c.Claimed = claimed
		}
	}
	c.Skipped = r.skipped(c, own)
	c.Err = r.judge(c, own)
}

// show is the one whose subject is g, nil where there is none.
func (r *trial) show(g lockbench.Guarantee) *show {
	for _, sh := range r.shows {
		if sh.play.guarantee == g {
			return sh
		}
	}
	return nil
}

// skipped says why c was not tested, empty when it was.
func (r *trial) skipped(c *Case, own *show) string {
	if own != nil || c.History != "" {
		return ""
	}
	if why := r.abilities.lacks(c.Guarantee); why != "" {
		return why
	}
	for _, p := range plays {
		if p.guarantee == c.Guarantee {
			return r.unfit(p)
		}
	}
	return "it takes faults that no test can do to a service of others; hint: Explore has them, for locks on Redis"
}

// judge returns why c fails, nil when it does not.
func (r *trial) judge(c *Case, own *show) error {
	var errs []error
	if own != nil {
		for _, err := range own.notes.wrong {
			errs = append(errs, fmt.Errorf("%s: %w", c.Guarantee, err))
		}
		for _, d := range own.result.Defects {
			errs = append(errs, fmt.Errorf("%s: lockbench contradicts itself, so that nothing is proven: %s", c.Guarantee, d))
		}
	}
	switch {
	case c.Guarantee == lockbench.Recovery && c.Claimed && r.undying():
		errs = append(errs, fmt.Errorf("%s: untested, %s; hint: have Close end what the lock does in the background, as the end of its process would", c.Guarantee, c.Skipped))
	case c.Verdict == checker.Broken && c.Claimed:
		errs = append(errs, fmt.Errorf("%s: %s", c.Guarantee, c.page()))
	case own != nil && len(errs) == 0 && c.Claimed && c.Verdict == checker.Untested:
		errs = append(errs, fmt.Errorf("%s: untested, %s%s; hint: a lease that is longer than this machine is slow, WithTTL or %s",
			c.Guarantee, c.Note, own.notes.troubles(), ttlVariable))
	}
	return errors.Join(errs...)
}

// troubles tells of calls that failed, empty when none did.
func (n *notes) troubles() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.errors == 0 {
		return ""
	}
	return fmt.Sprintf("; %d calls failed, the first: %v", n.errors, n.first)
}

// text says in a line what was found.
func (c *Case) text() string {
	if c.Skipped != "" {
		return c.Skipped
	}
	parts := []string{c.Verdict.String()}
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	switch {
	case c.Violations > 0:
		parts = append(parts, fmt.Sprintf("%d of %d occasions", c.Violations, max(c.Violations, c.Exposure)))
	case c.Verdict == checker.Held:
		parts = append(parts, fmt.Sprintf("exposed %d times", c.Exposure))
	}
	if !c.Claimed {
		parts = append(parts, "not claimed")
	}
	return strings.Join(parts, "; ")
}

// page is text with the evidence, and how to look at it again.
func (c *Case) page() string {
	var b strings.Builder
	b.WriteString(c.text())
	if c.Witness != nil {
		fmt.Fprintf(&b, "\n%s\n", c.Witness.Sentence)
		_ = reports.Timeline(&b, c.Witness) // a Builder takes everything
	}
	return b.String()
}

// tidy removes the histories that nobody asked for and that show nothing.
func (r *trial) tidy(t Trial) {
	if !r.own {
		return
	}
	for _, sh := range r.shows {
		file := sh.file()
		shows := func(c Case) bool { return c.History == file && (c.Err != nil || c.Verdict == checker.Broken) }
		if !slices.ContainsFunc(t.Cases, shows) {
			_ = os.Remove(file)
		}
	}
	for i := range t.Cases {
		if _, err := os.Stat(t.Cases[i].History); err != nil {
			t.Cases[i].History = ""
		}
	}
}
