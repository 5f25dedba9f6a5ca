package choosing

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
)

// shown is the largest number of fitting designs that are written with their commands.
const shown = 3

// Write writes the options for people: the first fitting ones with settings, evidence and
// commands, the others in a line each. It returns the first error of w.
func Write(w io.Writer, c Case, all []Option) error {
	var b strings.Builder
	fits := 0
	for i := range all {
		if o := &all[i]; o.Fits {
			if fits++; fits <= shown {
				o.write(&b, fits)
			}
		}
	}
	if fits == 0 {
		fmt.Fprintf(&b, "None of the %s on %s fits.\n\n", figures.Plural(int64(len(all)), "design"), c.Service)
	}
	if fits > shown {
		fmt.Fprintf(&b, "%s more fit, which break more, were tried less or are slower:\n", figures.Number(int64(fits-shown)))
		n := 0
		list(&b, all, func(o *Option) bool {
			if o.Fits {
				n++
			}
			return o.Fits && n > shown
		})
	}
	if fits < len(all) {
		b.WriteString("Not for this case:\n")
		list(&b, all, func(o *Option) bool { return !o.Fits })
	}
	var left []string
	for _, one := range (conclusion.All() &^ c.over()).Each() {
		left = append(left, one.Title())
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "Left out, as you say that it cannot happen: %s.\n", strings.Join(left, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes an option in full.
func (o *Option) write(b *strings.Builder, n int) {
	fmt.Fprintf(b, "%d. %s: %s\n   %s\n", n, o.Design.Name, o.Conclusion.Word, o.Design.Summary)
	var settings []string
	if o.Lease > 0 {
		settings = append(settings, fmt.Sprintf("lease %v", o.Lease))
	}
	if o.Design.Renews {
		settings = append(settings, "it renews by itself")
	}
	if o.Guard != "" {
		settings = append(settings, "a guard in the store ("+string(o.Guard)+")")
	}
	if o.GrantsPerS > 0 {
		settings = append(settings, fmt.Sprintf("%s grants/s in the released matrix", figures.Rate(o.GrantsPerS)))
	}
	fmt.Fprintf(b, "   use:      %s\n   because:  %s\n", strings.Join(settings, ", "), o.reason())
	fmt.Fprintf(b, "   check it: %s\n", strings.Join(o.Commands, "\n             "))
	if len(o.Faults) > 0 {
		fmt.Fprintf(b, "             the first once more with each of --fault %s\n", strings.Join(o.Faults, ", "))
	}
	b.WriteString("\n")
}

// reason returns the reason of the conclusion, with the cell and the command that shows it.
func (o *Option) reason() string {
	if o.Conclusion.Source == "" {
		return o.Why
	}
	return fmt.Sprintf("%s (%s: %s)", o.Why, o.Conclusion.Cell, o.Conclusion.Shows)
}

// list writes a line for each option that matches.
func list(b *strings.Builder, all []Option, match func(*Option) bool) {
	for i := range all {
		if o := &all[i]; match(o) {
			fmt.Fprintf(b, "   %-23s %s: %s\n", o.Design.Name, o.Conclusion.Word, o.Why)
		}
	}
	b.WriteString("\n")
}
