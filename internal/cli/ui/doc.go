// Package ui shows the progress of a session of runs on a terminal: a full-screen view, redrawn
// a few times a second from a copy of the state. A [Live] is informed of the runs and keeps
// that copy, a [Session]; a [Screen] draws it, and knows neither locks nor judges.
package ui
