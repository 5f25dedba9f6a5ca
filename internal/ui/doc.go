// Package ui shows on a terminal how a session of runs is going: a full-screen view for
// people, redrawn a few times a second from a copy of what there is to be seen. A [Live] is
// informed of the runs and keeps that copy, a [Session]; a [Screen] draws it, and knows neither
// locks nor judges.
package ui
