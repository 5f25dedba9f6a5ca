package lockbench

import (
	"fmt"
	"slices"
	"strings"
)

// Parse returns c changed by terms. A term adds a guarantee (+lease), a condition that all
// guarantees survive (+@failover) or one cell (+fencing@failover); or it removes one, with an
// optional reason (-recovery@failover, "-lease@crash+skew: why"). Two conditions make one cell:
// violations that both touched. -lease@after:cancel also covers all violations after the first
// cancel.
//
// If the first term has no sign, the terms replace c: "exclusion lease @crash". If they then name
// no condition, they are claimed under [Survivable]; "@nothing" claims them under none. A string
// may have several terms, separated by commas or spaces, if none has a reason. The error names
// the term, and similar names.
func (c Claims) Parse(terms ...string) (Claims, error) {
	terms = split(terms)
	absolute := len(terms) > 0 && !strings.ContainsAny(terms[0][:1], "+-")
	if absolute {
		c = Claims{}
		if !slices.ContainsFunc(terms, func(t string) bool { return strings.HasPrefix(t, "@") }) {
			c.Survives = Survivable
		}
	}
	for _, term := range terms {
		text, why, _ := strings.Cut(term, ": ")
		var err error
		if less, signed := strings.CutPrefix(text, "-"); signed {
			c, err = c.less(less, strings.TrimSpace(why))
		} else {
			c, err = c.more(strings.TrimPrefix(text, "+"))
		}
		if err != nil {
			return Claims{}, fmt.Errorf("claim %q: %w", text, err)
		}
	}
	return c, nil
}

// split splits strings into terms.
func split(terms []string) (all []string) {
	for _, t := range terms {
		if strings.Contains(t, ": ") {
			all = append(all, strings.TrimSpace(t))
			continue
		}
		all = append(all, strings.FieldsFunc(t, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })...)
	}
	return all
}

// term reads "lease", "@crash", "lease@crash+skew". any is true if it names no guarantee.
func term(text string) (cell Cell, any bool, err error) {
	if text == "" {
		return Cell{}, false, fmt.Errorf("it names nothing; hint: +lease, or -recovery@failover")
	}
	under, any := strings.CutPrefix(text, "@")
	switch {
	case any && under == nothing:
		return Cell{}, true, nil
	case any && under == "":
		return Cell{}, true, fmt.Errorf("it names no condition after @; hint: @crash")
	case any:
		cell.Under, err = parseConditions(under)
		return cell, true, err
	}
	cell, err = ParseCell(text)
	return cell, false, err
}

// more applies a term that adds.
func (c Claims) more(text string) (Claims, error) {
	if text == nothing {
		return c, nil
	}
	cell, any, err := term(text)
	if err != nil {
		return c, err
	}
	if any {
		c.Survives |= cell.Under
		return c.restored(cell), nil
	}
	c = c.With(cell.Guarantee)
	if cell.Under&^c.under(cell.Guarantee) != 0 {
		c.Also = append(slices.Clone(c.Also), cell)
	}
	if cell.Under != 0 {
		c = c.restored(cell)
	}
	return c, nil
}

// restored returns c without the exceptions that cover cell, or, if cell names no guarantee, all
// exceptions under its conditions.
func (c Claims) restored(cell Cell) Claims {
	var kept []Exception
	for _, e := range c.Except {
		gives := e.Gives
		if gives == nil && cell.Guarantee != "" {
			gives = c.Keeps
		}
		switch {
		case !cell.Under.Has(e.Under):
			kept = append(kept, e)
		case cell.Guarantee == "":
		default:
			e.Gives = slices.DeleteFunc(slices.Clone(gives), func(g Guarantee) bool { return g == cell.Guarantee })
			if len(e.Gives) > 0 {
				kept = append(kept, e)
			}
		}
	}
	c.Except = kept
	return c
}

// less applies a term that removes.
func (c Claims) less(text, why string) (Claims, error) {
	e := Exception{Why: why}
	name, under, at := strings.Cut(text, "@")
	if after, lasts := strings.CutPrefix(under, afterwards); at && lasts {
		e.Lasts, text = true, name+"@"+after
	}
	cell, any, err := term(text)
	if err != nil {
		return c, err
	}
	if !any && cell.Under == 0 {
		return c.Without(cell.Guarantee), nil
	}
	if e.Under = cell.Under; !any {
		e.Gives = []Guarantee{cell.Guarantee}
	}
	return c.But(e), nil
}
