package reports

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// MaxSummary is how many bytes a step summary of GitHub may have; more is not shown at
// all (docs.github.com, workflow commands).
const MaxSummary = 1 << 20

// maxEvidence bounds what is shown of how guarantees were broken, so that the whole
// stays below MaxSummary.
const maxEvidence = MaxSummary / 2

// Markdown writes r as GitHub's Markdown: the outcome, the thresholds, the table, then
// every broken cell with its counterexample, to be unfolded. Counterexamples of which there
// is no end are cut off where the whole would exceed [MaxSummary]. It returns the first
// error of w.
func Markdown(w io.Writer, r Result) error {
	merged := r.Designs()
	m := markdown{page: newPage(w, TerminalOptions{}), result: &merged, labels: merged.Labels(), suites: r.suites()}
	headline, why := merged.Outcome()
	m.printf("### lockbench: %s\n\n%s (exit %d)\n", inline(headline), inline(why), r.Exit)
	m.thresholds()
	m.tables()
	m.cases("What was broken", func(c testCase) bool { return c.broken })
	m.cases("What is open", func(c testCase) bool { return c.state == caseErred })
	m.footer()
	return m.Flush()
}

// markdown is a report being written.
type markdown struct {
	page
	result *Result
	labels []string
	suites []suite
	shown  int // bytes of evidence
}

// thresholds writes one line per threshold.
func (m *markdown) thresholds() {
	if len(m.result.Thresholds) == 0 {
		return
	}
	t := terminal{result: m.result, label: newLabel(m.result.Runs)}
	m.printf("\n| threshold | outcome | |\n|---|---|---|\n")
	for i := range m.result.Thresholds {
		th := &m.result.Thresholds[i]
		m.printf("| %s | %s | %s |\n", inline(th.Threshold), inline(strings.TrimSpace(t.outcomeWord(th.Outcome))), inline(t.readings(th)))
	}
}

// tables writes how fast each design was, unless it was explored, and what it kept.
func (m *markdown) tables() {
	if len(m.result.Runs) == 0 {
		return
	}
	m.printf("\n")
	if !m.result.explored() {
		m.speeds()
		m.printf("\n")
	}
	kept := m.result.Guarantees()
	markdownTable(m, &kept)
}

func (m *markdown) speeds() {
	m.printf("| design | grants/s | acquire p50 | p99 | max | breaches |\n|---|--:|--:|--:|--:|--:|\n")
	t := table{result: m.result, label: newLabel(m.result.Runs)}
	for i := range m.result.Runs {
		run := &m.result.Runs[i]
		l := run.Latency["acquire"]
		m.printf("| %s | %s | %s | %s | %s | %s |\n", inline(m.labels[i]), inline(t.rate(run)),
			duration(l.Count, l.P50), duration(l.Count, l.P99), duration(l.Count, l.Max), t.breaches(run))
	}
}

// cases writes what matches of all suites, under a heading.
func (m *markdown) cases(heading string, match func(testCase) bool) {
	for _, s := range m.suites {
		for _, c := range s.cases {
			if !match(c) {
				continue
			}
			if heading != "" {
				m.printf("\n#### %s\n\n", heading)
				heading = ""
			}
			m.one(s.name+": "+c.name, c)
		}
	}
}

func (m *markdown) one(title string, c testCase) {
	switch {
	case c.evidence == "":
		m.printf("- %s: %s\n", inline(title), inline(c.message))
	case m.shown+len(c.evidence)+len(c.message) > maxEvidence:
		m.printf("- %s: %s (too long to be shown here)\n", inline(title), inline(shortened(c.message)))
	default:
		m.shown += len(c.evidence) + len(c.message)
		fence := fenceFor(c.evidence)
		m.printf("<details><summary>%s: %s</summary>\n\n%s\n%s\n%s\n\n</details>\n\n", within(title), within(c.message), fence, legible(c.evidence), fence)
	}
}

// footer says what all this was made under.
func (m *markdown) footer() {
	if len(m.result.Runs) == 0 {
		return
	}
	first := &m.result.Runs[0]
	parts := append([]string{}, settings(first.Params)...)
	if first.Workload != "" {
		parts = append([]string{"workload " + first.Workload}, parts...)
	}
	parts = append(parts, fmt.Sprintf("seed %d", first.Seed), "server "+m.result.Kind(first)+" "+m.result.Version(first))
	m.printf("\n<sub>%s</sub>\n", inline(strings.Join(parts, ", ")))
}

// fenceFor is a fence that does not occur in a text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// markdownSpecial are the characters that Markdown or HTML would take for its own.
var markdownSpecial = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	`\`, `\\`, "\n", " ", "\r", " ", "~", `\~`, "#", `\#`,
)

// inline makes text stand for itself within a line of Markdown.
func inline(text string) string { return markdownSpecial.Replace(legible(text)) }

// within makes text stand for itself within an HTML element, which Markdown leaves as it
// is.
func within(text string) string {
	return html.EscapeString(strings.ReplaceAll(legible(text), "\n", " "))
}
