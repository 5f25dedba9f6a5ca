package lockbench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Claims are the promises of a lock: guarantees, the conditions under which it keeps them,
// and exceptions. The findings of a checker do not depend on claims; claims decide which
// findings fail a run. The zero value claims nothing.
type Claims struct {
	// Keeps are the guarantees claimed, Survives the conditions that they are claimed
	// under, alone or in any mix.
	Keeps    []Guarantee
	Survives Conditions
	// Also are cells claimed beyond the product of the two.
	Also []Cell
	// Except are the exceptions.
	Except []Exception
}

// An Exception gives up guarantees under conditions.
type Exception struct {
	// Gives are the guarantees given up; nil is all.
	Gives []Guarantee
	// Under are the conditions that must all have touched a violation for the exception to
	// cover it.
	Under Conditions
	// Lasts: it covers every violation after the conditions first occurred, on any key, to the
	// end of the run, since the lock's state stays affected.
	Lasts bool
	// Why gives the reason, in one sentence.
	Why string
}

// Survivable are the conditions that a lease lock on one server can survive: all except the
// loss of its state, and work past its leases.
const Survivable = Pause | Crash | ThreadDeath | LostReply | Cancel | Skew | ScriptFlush

// LeaseClaims returns the claims that a lease lock on one server can keep, with the guarantees
// of its abilities. A lock of another author is held to them unless it declares its own. Answers,
// NoSpuriousRefusal and Recovery are claimed even if the server forgets grants.
func LeaseClaims(abilities ...Guarantee) Claims {
	c := Claims{Survives: Survivable}
	for _, g := range []Guarantee{Answers, NoSpuriousRefusal, Recovery} {
		c.Also = append(c.Also, g.At(StateLoss|Failover))
	}
	c.Also = append(c.Also, LossReported.At(StateLoss)) // a replica may know an owner again that had lost the key
	c.Keeps = ordered(slices.Concat(abilities, []Guarantee{
		Exclusion, LeaseKept, OwnerRelease, LossReported, Answers, NoSpuriousRefusal, Recovery, Effects, WakeUp,
	}))
	return c
}

// Renewing returns c with the claim of a lock that renews each hold until its release:
// exclusion@outlived, except under conditions that hinder the renewals.
func (c Claims) Renewing() Claims {
	c = c.With(Exclusion)
	c.Also = append(slices.Clone(c.Also), Exclusion.At(Outlived))
	for _, hindered := range []struct {
		by  Conditions
		why string
	}{
		{Pause, "a process that stands still cannot renew"},
		{Crash, "a process that died cannot renew"},
		{ThreadDeath, "the hold of a thread that died is not to be renewed"},
		{ScriptFlush, "a renewal that meets a flush may come too late"},
		{StateLoss, "a key that the server forgot cannot be renewed"},
		{Failover, "a key that the new primary does not know cannot be renewed"},
	} {
		c = c.But(Exception{Gives: []Guarantee{Exclusion}, Under: Outlived | hindered.by, Why: hindered.why})
	}
	return c
}

// ordered returns the guarantees in the order of [Guarantees], each once.
func ordered(all []Guarantee) []Guarantee {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Guarantee) int { return a.order() - b.order() })
	return slices.Compact(all)
}

// Claims reports whether the cell is claimed: its guarantee, under each of its conditions, and
// without an exception for them.
func (c *Claims) Claims(cell Cell) bool { return c.Covers(cell.Guarantee, cell.Under, cell.Under) }

// Covers reports whether g is claimed for a violation that the conditions in touched affect.
// occurred has the conditions that had occurred in the history by then.
func (c *Claims) Covers(g Guarantee, touched, occurred Conditions) bool {
	if !slices.Contains(c.Keeps, g) || touched&^c.under(g) != 0 {
		return false
	}
	_, given := c.Exception(g, touched, occurred)
	return !given
}

// under returns the conditions under which g is claimed, without regard to exceptions.
func (c *Claims) under(g Guarantee) Conditions {
	all := c.Survives | g.Info().About
	for _, cell := range c.Also {
		if cell.Guarantee == g {
			all |= cell.Under
		}
	}
	return all
}

// Exception returns the exception that covers g for a violation that the conditions in touched
// affect. occurred has the conditions that had occurred in the history by then.
func (c *Claims) Exception(g Guarantee, touched, occurred Conditions) (Exception, bool) {
	for _, e := range c.Except {
		concerns := e.Gives == nil || slices.Contains(e.Gives, g)
		if concerns && (touched.Has(e.Under) || e.Lasts && occurred.Has(e.Under)) {
			return e, true
		}
	}
	return Exception{}, false
}

// Reason says why the cell is not claimed; empty when it is.
func (c *Claims) Reason(cell Cell) string {
	if !slices.Contains(c.Keeps, cell.Guarantee) {
		return fmt.Sprintf("%s is not claimed at all", cell.Guarantee)
	}
	if e, given := c.Exception(cell.Guarantee, cell.Under, cell.Under); given {
		if e.Why == "" {
			return fmt.Sprintf("%s is given up under %s", cell.Guarantee, e.Under)
		}
		return e.Why
	}
	if missing := cell.Under &^ c.under(cell.Guarantee); missing != 0 {
		return fmt.Sprintf("%s is not claimed under %s", cell.Guarantee, missing)
	}
	return ""
}

// With returns c with these guarantees claimed too.
func (c Claims) With(more ...Guarantee) Claims {
	c.Keeps = ordered(slices.Concat(c.Keeps, more))
	return c
}

// Without returns c without these guarantees.
func (c Claims) Without(these ...Guarantee) Claims {
	c.Keeps = slices.DeleteFunc(slices.Clone(c.Keeps), func(g Guarantee) bool { return slices.Contains(these, g) })
	c.Also = slices.DeleteFunc(slices.Clone(c.Also), func(cell Cell) bool { return slices.Contains(these, cell.Guarantee) })
	return c
}

// But returns c with further exceptions.
func (c Claims) But(more ...Exception) Claims {
	c.Except = slices.Concat(c.Except, more)
	return c
}

// nothing stands for no guarantee and, after @, for no condition.
const nothing = "nothing"

// Terms returns c as [Claims.Parse] reads it: "exclusion", "@crash", "exclusion@outlived",
// "-recovery@thread-death", "-lease@after:cancel: why".
func (c *Claims) Terms() []string {
	terms := []string{}
	for _, g := range c.Keeps {
		terms = append(terms, string(g))
	}
	if len(c.Keeps) == 0 {
		terms = append(terms, nothing)
	}
	for _, one := range c.Survives.Each() {
		terms = append(terms, "@"+one.String())
	}
	if c.Survives == 0 {
		terms = append(terms, "@"+nothing)
	}
	for _, cell := range c.Also {
		terms = append(terms, "+"+cell.String())
	}
	for _, e := range c.Except {
		terms = append(terms, e.terms()...)
	}
	return terms
}

const afterwards = "after:"

func (e *Exception) terms() (terms []string) {
	under := "@" + e.Under.String()
	if e.Lasts {
		under = "@" + afterwards + e.Under.String()
	}
	if e.Why != "" {
		under += ": " + e.Why
	}
	if e.Gives == nil {
		return []string{"-" + under}
	}
	for _, g := range e.Gives {
		terms = append(terms, "-"+string(g)+under)
	}
	return terms
}

// String returns the terms of c, separated by spaces, without reasons.
func (c Claims) String() string {
	terms := c.Terms()
	for i, term := range terms {
		terms[i], _, _ = strings.Cut(term, ": ")
	}
	return strings.Join(terms, " ")
}

// MarshalJSON writes the terms of c, as an array.
func (c Claims) MarshalJSON() ([]byte, error) { return json.Marshal(c.Terms()) }

// UnmarshalJSON reads the form that MarshalJSON writes.
func (c *Claims) UnmarshalJSON(text []byte) error {
	var terms []string
	if err := json.Unmarshal(text, &terms); err != nil {
		return fmt.Errorf("claims: %w; hint: an array of terms, such as [\"exclusion\", \"@crash\"]", err)
	}
	parsed, err := Claims{}.Parse(terms...)
	if err == nil {
		*c = parsed
	}
	return err
}
