// Package junit writes the cases of a document for test reporters: as JUnit XML, and as the
// annotations that GitHub shows beside a change.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/terminal"
)

// Write writes the suites of d as JUnit XML, which test reporters of CI systems read. A case
// fails or errs exactly if the exit code says so. Broken claims and failed thresholds are
// failures, with the counterexample; inconclusive cases are errors. Cases that were not put to
// the test, and cases that were broken but are not claimed, are skipped, with the reason.
// Tested cases carry their number of occasions as assertions, and the strength as status. Write
// returns the first error of w.
func Write(w io.Writer, d *document.Document) error {
	all := Suites{Name: "lockbench"}
	var total time.Duration
	for i := range d.Suites {
		s := &d.Suites[i]
		js := newSuite(i, s)
		all.Tests += js.Tests
		all.Failures += js.Failures
		all.Errors += js.Errors
		total += s.Took
		all.Suites = append(all.Suites, js)
	}
	all.Time = seconds(total)
	if err := encode(w, all); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}

func encode(w io.Writer, all Suites) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Suites is the root of JUnit XML; its elements have the order of the schema.
type Suites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Suites   []xmlSuite `xml:"testsuite"`
}

type xmlSuite struct {
	Name       string         `xml:"name,attr"`
	Tests      int            `xml:"tests,attr"`
	Failures   int            `xml:"failures,attr"`
	Errors     int            `xml:"errors,attr"`
	Skipped    int            `xml:"skipped,attr"`
	Time       string         `xml:"time,attr"`
	Timestamp  string         `xml:"timestamp,attr,omitempty"`
	ID         int            `xml:"id,attr"`
	Properties *xmlProperties `xml:"properties"`
	Cases      []xmlCase      `xml:"testcase"`
}

type xmlProperties struct {
	All []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type xmlCase struct {
	Name  string `xml:"name,attr"`
	Class string `xml:"classname,attr"`
	Time  string `xml:"time,attr"`
	// Assertions is the number of occasions that put a cell to the test, Status their strength.
	Assertions string      `xml:"assertions,attr,omitempty"`
	Status     string      `xml:"status,attr,omitempty"`
	Skipped    *string     `xml:"skipped"`
	Error      *xmlProblem `xml:"error"`
	Failure    *xmlProblem `xml:"failure"`
	Out        *xmlText    `xml:"system-out"`
}

type xmlProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

type xmlText struct {
	Text string `xml:",cdata"`
}

func newSuite(id int, s *document.Suite) xmlSuite {
	js := xmlSuite{Name: s.Name, ID: id, Tests: len(s.Cases), Time: seconds(s.Took)}
	if s.Properties != nil {
		js.Properties = &xmlProperties{}
	}
	for _, p := range s.Properties {
		js.Properties.All = append(js.Properties.All, xmlProperty{p[0], p[1]})
	}
	if started, err := time.Parse(time.RFC3339Nano, s.Started); err == nil {
		js.Timestamp = started.UTC().Format("2006-01-02T15:04:05")
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		switch c.State {
		case document.Failed:
			js.Failures++
		case document.Erred:
			js.Errors++
		case document.Skipped:
			js.Skipped++
		}
		js.Cases = append(js.Cases, newCase(s.Name, c))
	}
	return js
}

func newCase(class string, c *document.Case) xmlCase {
	jc := xmlCase{Name: c.Name, Class: class, Time: "0", Status: c.Strength}
	if c.Strength != "" {
		jc.Assertions = strconv.FormatInt(c.Occasions, 10)
	}
	evidence := terminal.Text(c.Evidence)
	known := sources(c)
	switch c.State {
	case document.Failed:
		jc.Failure, jc.Out = &xmlProblem{c.Message, "failed", body(c.Message, evidence)}, text(known)
	case document.Erred:
		jc.Error, jc.Out = &xmlProblem{c.Message, "inconclusive", body(c.Message, evidence)}, text(known)
	case document.Skipped:
		jc.Skipped, jc.Out = &c.Message, text(paragraphs(known, evidence))
	default:
		jc.Out = text(paragraphs(c.Message, known))
	}
	return jc
}

// sources returns the findings on a case by source, one line each.
func sources(c *document.Case) string {
	var lines []string
	for _, s := range c.Sources {
		lines = append(lines, s[0]+": "+s[1])
	}
	return strings.Join(lines, "\n")
}

// paragraphs joins two texts, and leaves out an empty one.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// text returns nil for an empty text.
func text(s string) *xmlText {
	if s == "" {
		return nil
	}
	return &xmlText{legible.Text(s)}
}

// body returns the text that a test reporter shows for a single case.
func body(message, evidence string) string {
	return legible.Text(paragraphs(message, evidence))
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
