// Package progress shows how far runs, an exploration or a matrix have
// come: a bar or a line that is redrawn on a terminal, plain lines elsewhere. It says nothing
// that the result does not say too. Errors of writing are dropped: progress that nobody can
// see is no reason to stop.
package progress
