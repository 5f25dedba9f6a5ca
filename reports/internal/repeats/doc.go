// Package repeats shortens the steps of a schedule for people: repeated steps are shown once, with
// their count.
package repeats
