package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// JUnit writes r as JUnit XML, which test reporters of CI systems read: a suite per
// design, a case per guarantee and threshold. A case fails or errs exactly where the exit
// code says so: failed are broken claims and thresholds, with the counterexample; in error is
// what was inconclusive. Skipped, with the reason, is what was not put to the test, and
// what was broken but is not claimed. It returns the first error of w.
func JUnit(w io.Writer, r Result) error {
	return writeJUnit(w, r.suites())
}

// JUnitMatrix writes m as JUnit XML, by the rules of [JUnit].
func JUnitMatrix(w io.Writer, m Matrix) error {
	return writeJUnit(w, m.suites())
}

// The elements of JUnit XML, in the order in which its schema has them.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Time       string           `xml:"time,attr"`
	Timestamp  string           `xml:"timestamp,attr,omitempty"`
	ID         int              `xml:"id,attr"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	All []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *string       `xml:"skipped"`
	Error   *junitProblem `xml:"error"`
	Failure *junitProblem `xml:"failure"`
	Out     *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

func writeJUnit(w io.Writer, suites []suite) error {
	all := junitSuites{Name: "lockbench"}
	var total time.Duration
	for i, s := range suites {
		js := newJUnitSuite(i, s)
		all.Tests += js.Tests
		all.Failures += js.Failures
		all.Errors += js.Errors
		total += s.took
		all.Suites = append(all.Suites, js)
	}
	all.Time = seconds(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}

func newJUnitSuite(id int, s suite) junitSuite {
	js := junitSuite{Name: s.name, ID: id, Tests: len(s.cases), Time: seconds(s.took), Properties: s.properties()}
	if s.run != nil {
		if started, err := time.Parse(time.RFC3339Nano, s.run.Started); err == nil {
			js.Timestamp = started.UTC().Format("2006-01-02T15:04:05")
		}
	}
	for _, c := range s.cases {
		switch c.state {
		case caseFailed:
			js.Failures++
		case caseErred:
			js.Errors++
		case caseSkipped:
			js.Skipped++
		}
		js.Cases = append(js.Cases, newJUnitCase(s.name, c))
	}
	return js
}

func newJUnitCase(class string, c testCase) junitCase {
	jc := junitCase{Name: c.name, Class: class, Time: "0"}
	switch c.state {
	case caseFailed:
		jc.Failure = &junitProblem{c.message, "failed", body(c)}
	case caseErred:
		jc.Error = &junitProblem{c.message, "inconclusive", body(c)}
	case caseSkipped:
		jc.Skipped, jc.Out = &c.message, text(c.evidence)
	default:
		jc.Out = text(c.message)
	}
	return jc
}

// text is nil for nothing.
func text(s string) *junitText {
	if s == "" {
		return nil
	}
	return &junitText{legible(s)}
}

// legible replaces what XML has no place for, even escaped: control characters and what
// is not UTF-8.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r != 0xFFFE && r != 0xFFFF:
			return r
		}
		return utf8.RuneError
	}, s)
}

// body is what a reader is shown who looks closer.
func body(c testCase) string {
	if c.evidence == "" {
		return legible(c.message)
	}
	return legible(c.message + "\n\n" + c.evidence)
}

func (s *suite) properties() *junitProperties {
	if s.run == nil {
		return nil
	}
	return &junitProperties{[]junitProperty{
		{"design", s.run.Design},
		{"workload", s.run.Workload},
		{"seed", strconv.FormatUint(s.run.Seed, 10)},
		{"history", s.run.History},
		{"exit", strconv.Itoa(s.run.Exit)},
	}}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
