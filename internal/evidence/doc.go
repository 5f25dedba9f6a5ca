// Package evidence gathers the findings on designs beside a live run, from a search in virtual time
// and from the released matrix. It lets package conclusion draw conclusions for runs and for
// matrices.
package evidence
