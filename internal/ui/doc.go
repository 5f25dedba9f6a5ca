// Package ui shows on a terminal how a session of runs is going: a full-screen view for
// people, redrawn a few times a second from a copy of what there is to be seen. It knows
// neither locks nor judges: who opens a [Screen] tells it what to show as a [Session].
package ui
