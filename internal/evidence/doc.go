// Package evidence gathers findings on designs beside a live run, by exploring them in virtual time
// and from the released matrix. It has package conclusion draw conclusions from all of them, for
// runs and for matrices.
package evidence
