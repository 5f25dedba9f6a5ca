package choosing

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/lib/wrap"
)

// shown is the largest number of fitting designs that are written with their settings.
const shown = 3

// Write writes the options for people, the best last, where a terminal shows it: first the designs that
// do not fit, and those that fit less well, by reason; then locks of the user's own; then the first few
// with their settings; then the best with its evidence, and the commands that check it. It returns the
// first error of w.
func Write(w io.Writer, c Case, all []Option) error {
	var b strings.Builder
	var fitting, others, own []*Option
	for i := range all {
		switch o := &all[i]; {
		case o.Own:
			own = append(own, o)
		case o.Fits:
			fitting = append(fitting, o)
		default:
			others = append(others, o)
		}
	}
	list(&b, "Not for this case:", others)
	first := fitting[:min(shown, len(fitting))]
	list(&b, "Fit, but break more, were tried less or are slower:", fitting[len(first):])
	c.writeLeftOut(&b)
	for _, o := range own {
		paragraph(&b, 0, fmt.Sprintf("Your own %s: %s, the released matrix does not have it", o.Design.Name, o.Conclusion.Word))
		paragraph(&b, 3, o.Design.Summary)
		o.writeChecks(&b, &c)
		b.WriteString("\n")
	}
	for i := len(first) - 1; i >= 0; i-- {
		first[i].write(&b, i+1, &c)
	}
	if len(first) == 0 {
		fmt.Fprintf(&b, "None of the %s on %s fits.\n", figures.Plural(int64(len(others)), "design"), c.Service)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeLeftOut writes the conditions that do not count in the case, and who said so.
func (c *Case) writeLeftOut(b *strings.Builder) {
	var left []string
	for _, one := range (conclusion.All() &^ c.over()).Each() {
		left = append(left, one.Title())
	}
	switch text := strings.Join(left, ", "); {
	case text == "":
	case c.Unasked:
		paragraph(b, 0, "Left out, unless --conditions names it: "+text+".")
		b.WriteString("\n")
	default:
		paragraph(b, 0, "Left out, as --conditions does not name it: "+text+".")
		b.WriteString("\n")
	}
}

// write writes an option of a case: the first one in full.
func (o *Option) write(b *strings.Builder, n int, c *Case) {
	paragraph(b, 0, fmt.Sprintf("%d. %s: %s", n, o.Design.Name, o.Conclusion.Word))
	if n == 1 {
		paragraph(b, 3, o.Design.Summary)
	}
	entry := func(name, text string) { paragraph(b, 3, fmt.Sprintf("%-10s%s", name, text)) }
	entry("use:", o.settings(c.Harm))
	if o.Lease >= longLease {
		entry("mind:", fmt.Sprintf("a process that dies keeps others out for up to %v", o.Lease))
	}
	if n > 1 {
		b.WriteString("\n")
		return
	}
	entry("because:", o.Why)
	if o.Conclusion.Source != "" {
		entry("seen:", fmt.Sprintf("%s, by", o.Conclusion.Cell))
		command(b, o.Conclusion.Shows)
	}
	o.writeChecks(b, c)
}

// writeChecks writes the commands that check an option.
func (o *Option) writeChecks(b *strings.Builder, c *Case) {
	if c.Work > longestTried {
		fmt.Fprintf(b, "   check it, %v of work standing for %v:\n", longestTried, c.Work)
	} else {
		b.WriteString("   check it:\n")
	}
	for _, line := range o.Commands {
		command(b, line)
	}
	if len(o.Faults) > 0 {
		paragraph(b, 5, "and the first once more with each of --fault "+strings.Join(o.Faults, ", "))
	}
}

// longLease is a lease whose end is worth waiting for only in rare cases.
const longLease = time.Minute

// settings describes how to use an option.
func (o *Option) settings(harm Harm) string {
	var settings []string
	if o.Lease > 0 {
		settings = append(settings, fmt.Sprintf("lease %v", o.Lease))
	}
	if o.Design.Renews {
		settings = append(settings, "it renews by itself")
	}
	if o.Guard != "" {
		settings = append(settings, "a guard in the store ("+string(o.Guard)+")")
	} else if harm == Waste && o.Conclusion.Word == conclusion.NeedsGuard {
		settings = append(settings, "no guard, as two at once only waste work")
	}
	if o.GrantsPerS > 0 {
		settings = append(settings, fmt.Sprintf("%s grants/s in the released matrix", figures.Rate(o.GrantsPerS)))
	}
	return strings.Join(settings, ", ")
}

// paragraph writes text in lines that fit, indented.
func paragraph(b *strings.Builder, indent int, text string) {
	for _, line := range wrap.Lines(text, wrap.Width-indent, 2) {
		fmt.Fprintln(b, strings.Repeat(" ", indent)+line)
	}
}

// command writes a command line in lines that fit and that a shell reads as one.
func command(b *strings.Builder, line string) {
	for _, part := range wrap.Command(line, wrap.Width-5, 4) {
		fmt.Fprintln(b, "     "+part)
	}
}

// list writes the names of options by their conclusion and its reason, under a title.
func list(b *strings.Builder, title string, of []*Option) {
	if len(of) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, r := range conclusion.ByReason(of, func(o *Option) (why, lock string) {
		why = o.Why
		if o.Conclusion.Word == conclusion.NotKnown {
			why = o.Conclusion.Brief()
		}
		return string(o.Conclusion.Word) + ": " + why, o.Design.Name
	}) {
		paragraph(b, 2, r.Why+": "+strings.Join(r.Locks, ", "))
	}
	b.WriteString("\n")
}
