package junit

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// MaxAnnotations is the number of annotations of one level that GitHub shows for a step.
const MaxAnnotations = 10

// Annotations writes the failures in d as workflow commands, which GitHub shows as
// annotations: an error for each broken claim and failed threshold, a warning for each
// inconclusive case. GitHub shows a limited number; the last annotation counts the rest.
// It returns the first error of w.
func Annotations(w io.Writer, d *document.Document) error {
	b := bufio.NewWriter(w)
	for _, level := range []struct {
		command string
		state   document.State
	}{{"error", document.Failed}, {"warning", document.Erred}} {
		var lines []string
		for _, s := range d.Suites {
			for _, c := range s.Cases {
				if c.State == level.state {
					lines = append(lines, annotation(level.command, "lockbench: "+s.Name+": "+c.Name, c.Message))
				}
			}
		}
		if more := len(lines) - MaxAnnotations; more > 0 {
			lines = append(lines[:MaxAnnotations-1], annotation(level.command, "lockbench", fmt.Sprintf("and %d more", more+1)))
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
	return fmt.Sprintf("::%s title=%s::%s", command, commandProperty.Replace(legible.Text(title)), commandData.Replace(legible.Text(message)))
}
