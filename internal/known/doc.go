// Package known has what the released matrix found of the designs of the catalogue. It is part
// of the program, so that a run of three seconds can say what hours of others have shown. What
// was found of another version of a design, or on another server, is not known.
package known
