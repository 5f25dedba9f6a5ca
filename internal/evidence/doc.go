// Package evidence gathers what is known of designs beside a live run: what a search in
// virtual time finds, and what the released matrix has. It has conclusions drawn of runs and of matrices.
package evidence
