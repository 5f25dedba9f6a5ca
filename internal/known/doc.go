// Package known has the released matrix's findings on the designs of the catalogue. It is part
// of the program, so that a run of three seconds can report the findings of hours. It leaves
// out findings on another version of a design, or on another server.
package known
