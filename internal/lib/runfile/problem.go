package runfile

import (
	"fmt"
	"strings"
)

// A Position is a place in a file; lines and columns count from 1, columns in
// characters. The zero value is the file as a whole.
type Position struct{ Line, Column int }

// A Problem is one fault of a file.
type Problem struct {
	File string
	At   Position
	// Err names the fault, and after "; hint: " a remedy.
	Err error
}

// Error begins with file:line:column, as errors of compilers do, so that editors find the
// position.
func (p Problem) Error() string {
	if p.At == (Position{}) {
		return fmt.Sprintf("%s: %v", p.File, p.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", p.File, p.At.Line, p.At.Column, p.Err)
}

// Unwrap gives the cause.
func (p Problem) Unwrap() error { return p.Err }

// Problems are all faults of a file, in the order of their positions.
type Problems []Problem

// Error returns the text of the only problem, or each on a line of its own with its hint
// below. There must be at least one.
func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	lines := []string{fmt.Sprintf("%d problems in %s", len(p), p[0].File)}
	for _, problem := range p {
		lines = append(lines, strings.Replace(problem.Error(), "; hint: ", "\n    hint: ", 1))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems one by one.
func (p Problems) Unwrap() []error {
	all := make([]error, len(p))
	for i := range p {
		all[i] = p[i]
	}
	return all
}
