// Package known holds the findings of the released matrix on the designs of the catalogue. They are
// part of the program, so that a run of three seconds can report the findings of hours. Findings on
// another version of a design, or on another server, are left out.
package known
