package ui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/lib/legible"
)

// Colours are the terminal's own sixteen, which its owner can read. A colour
// never tells more than the words beside it.
var (
	strong  = lipgloss.NewStyle().Bold(true)
	faint   = lipgloss.NewStyle().Faint(true)
	alarmed = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	wary    = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	content = lipgloss.NewStyle().Foreground(lipgloss.Green)
	busy    = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

// label is the width of the words at the beginning of lines.
const label = 9

// draw renders the view into the available room: no line is wider, and excess lines are
// left out, the earliest done designs first.
func (m model) draw() string {
	top := append(m.head(), m.current()...)
	bottom := append(m.notes(), m.foot())
	lines := append(top, m.done(m.height-len(top)-len(bottom))...)
	lines = append(lines, bottom...)
	if len(lines) > m.height {
		lines = append(lines[:m.height-1], m.foot())
	}
	for i, l := range lines {
		lines[i] = ansi.Truncate(strings.TrimRight(l, " "), m.width, "…")
	}
	return strings.Join(lines, "\n")
}

func (m model) head() []string {
	s := &m.session
	where := "starting"
	switch n := len(s.Done); {
	case s.Current.Design != "" && s.Designs > 0:
		where = fmt.Sprintf("design %d of %d", n+1, s.Designs)
	case s.Current.Design != "":
		where = fmt.Sprintf("design %d", n+1)
	case n > 0:
		where = fmt.Sprintf("%d done", n)
	}
	return []string{
		strong.Render("lockbench run") + "  " + where,
		faint.Render(s.Title),
		busy.Render(bar(s.share(), m.width)),
	}
}

// share is the completed share of the session, as if designs took equally long.
func (s *Session) share() float64 {
	if s.Designs == 0 {
		return 0
	}
	return (float64(len(s.Done)) + s.Current.share()) / float64(s.Designs)
}

// share is the completed share of the run, zero if unknown.
func (r *Run) share() float64 {
	if r.Length <= 0 {
		return 0
	}
	return min(1, r.Elapsed.Seconds()/r.Length.Seconds())
}

func (m model) current() []string {
	r := &m.session.Current
	if r.Design == "" {
		return nil
	}
	lines := []string{"", strong.Render(r.Design) + "  " + r.stage(), m.rate(r)}
	lines = append(lines, m.acquire(r)...)
	lines = append(lines, breaches(r.Breaches)...)
	lines = append(lines, row("refused", figures.Number(r.Refused)+failures(r.Failed)))
	return append(lines, occurrences(r.Faults)...)
}

// stage describes the progress of the run.
func (r *Run) stage() string {
	elapsed := r.Elapsed.Truncate(100 * time.Millisecond)
	switch {
	case r.Elapsed == 0:
		return "setting up"
	case r.Length == 0:
		return elapsed.String()
	case r.Elapsed >= r.Length:
		return fmt.Sprintf("%v over, winding down and judging the rest", r.Length)
	}
	return fmt.Sprintf("%v of %v", elapsed, r.Length)
}

// rate is a curve in the room beside the numbers.
func (m model) rate(r *Run) string {
	now, mean := pace(r)
	text := fmt.Sprintf("%-34s", fmt.Sprintf("%s grants/s now, %s mean", figures.Rate(now), figures.Rate(mean)))
	curve := spark(r.Rate, r.Elapsed, m.width-label-len(text)-2)
	if curve == "" {
		return row("rate", text)
	}
	return row("rate", text+" "+busy.Render(curve))
}

func failures(n int64) string {
	if n == 0 {
		return ""
	}
	return wary.Render(fmt.Sprintf("; failed or unanswered %s", figures.Number(n)))
}

// acquire has the percentiles so far, in two lines if one is too narrow.
func (m model) acquire(r *Run) []string {
	l := r.Acquire
	if l.Count == 0 {
		return []string{row("acquire", faint.Render("none measured yet"))}
	}
	first := fmt.Sprintf("p50 %-6s p90 %-6s p99 %-6s", figures.Compact(l.P50), figures.Compact(l.P90), figures.Compact(l.P99))
	rest := fmt.Sprintf("p99.9 %-6s max %-6s", figures.Compact(l.P999), figures.Compact(l.Max))
	of := faint.Render(fmt.Sprintf("of %s", figures.Number(l.Count)))
	if label+len(first)+len(rest)+len(of) <= m.width {
		return []string{row("acquire", first+" "+rest+" "+of)}
	}
	return []string{row("acquire", first), row("", rest+" "+of)}
}

func breaches(all []Breach) []string {
	if len(all) == 0 {
		return []string{row("broken", content.Render("nothing so far"))}
	}
	var lines []string
	for _, claimed := range []bool{true, false} {
		for _, b := range all {
			if b.Claimed == claimed {
				lines = append(lines, b.line())
			}
		}
	}
	return lines
}

// line has the most important text first, because a narrow terminal shows only the
// beginning.
func (b Breach) line() string {
	style, name, claimed := wary, "broken", "not claimed"
	if b.Claimed {
		style, name, claimed = alarmed, "BROKEN", "CLAIMED"
	}
	text := fmt.Sprintf("%s %s, %s, from %v", b.Guarantee, figures.Number(b.Count), claimed, b.First.Round(time.Millisecond))
	if b.Key != "" {
		text += ", " + b.Key
	}
	return style.Render(row(name, text))
}

func occurrences(all []Occurrences) []string {
	if len(all) == 0 {
		return nil
	}
	var each []string
	for _, s := range all {
		each = append(each, fmt.Sprintf("%s %s", s.Fault, figures.Number(s.Count)))
	}
	return []string{row("faults", wary.Render(strings.Join(each, ", ")))}
}

// done lists the designs with a verdict, the latest last, in room lines.
func (m model) done(room int) []string {
	all := m.session.Done
	if len(all) == 0 || room < 2 {
		return nil
	}
	lines := []string{""}
	if hidden := len(all) - (room - 1); hidden > 0 {
		hidden++ // the line with the count takes one
		all = all[min(hidden, len(all)):]
		lines = append(lines, faint.Render(fmt.Sprintf("… %d before", hidden)))
	}
	for _, o := range all {
		lines = append(lines, o.line(m.width))
	}
	return lines
}

// roomy is the least width that shows optional text.
const roomy = 90

func (o Outcome) line(width int) string {
	sign, style := "?", wary
	switch o.Mark {
	case Kept:
		sign, style = "✓", content
	case Broken:
		sign, style = "✗", alarmed
	}
	speed := fmt.Sprintf("%-24s %8s/s ", o.Design, figures.Rate(o.GrantsPerSecond))
	if width >= roomy {
		p99 := "-"
		if o.P99 > 0 {
			p99 = figures.Compact(o.P99)
		}
		speed += fmt.Sprintf("p99 %-6s ", p99)
	}
	return style.Render(sign) + " " + speed + " " + style.Render(o.Words)
}

// maxNotes is the number of notes shown, the latest ones.
const maxNotes = 3

func (m model) notes() []string {
	all := m.session.Notes
	lines := []string{""}
	for _, n := range all[max(0, len(all)-maxNotes):] {
		lines = append(lines, faint.Render(legible.Text(n)))
	}
	return lines
}

func (m model) foot() string {
	if m.ending {
		return wary.Render("ending the run in good order; the report follows")
	}
	return faint.Render("q or Ctrl-C ends the run in good order and shows the report")
}

// row is a line with its label.
func row(name, text string) string { return fmt.Sprintf("%-*s%s", label, name, text) }
