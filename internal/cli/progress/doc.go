// Package progress shows the progress of runs, of an exploration or of a matrix: a bar or a
// line that is redrawn on a terminal, plain lines elsewhere. The result has all of its
// information, too. Errors of writing are dropped: invisible progress is no reason to stop.
package progress
