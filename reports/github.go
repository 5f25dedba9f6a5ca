package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxAnnotations is how many annotations of one level GitHub shows of a step.
const maxAnnotations = 10

// Annotations writes what went wrong in r as workflow commands, from which GitHub makes
// annotations: an error for each broken claim and failed threshold, a warning for what is
// inconclusive. Of more than GitHub shows the last says how many there are. It returns
// the first error of w.
func Annotations(w io.Writer, r Result) error { return annotate(w, r.suites()) }

// AnnotationsMatrix is [Annotations] of a matrix.
func AnnotationsMatrix(w io.Writer, m Matrix) error { return annotate(w, m.suites()) }

func annotate(w io.Writer, suites []suite) error {
	b := bufio.NewWriter(w)
	for _, level := range []struct {
		command string
		state   caseState
	}{{"error", caseFailed}, {"warning", caseErred}} {
		var lines []string
		for _, s := range suites {
			for _, c := range s.cases {
				if c.state == level.state {
					lines = append(lines, annotation(level.command, "lockbench: "+s.name+": "+c.name, c.message))
				}
			}
		}
		if more := len(lines) - maxAnnotations; more > 0 {
			lines = append(lines[:maxAnnotations-1], annotation(level.command, "lockbench", fmt.Sprintf("and %d more", more+1)))
		}
		for _, line := range lines {
			fmt.Fprintln(b, line)
		}
	}
	return b.Flush()
}

// Workflow commands end at the end of the line, and properties at a comma or colon.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func annotation(command, title, message string) string {
	return fmt.Sprintf("::%s title=%s::%s", command, commandProperty.Replace(legible(title)), commandData.Replace(legible(message)))
}
