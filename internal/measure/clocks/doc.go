// Package clocks orders the holds of several machines, whose clocks are only known within bounds.
//
// A [Comparison] reads a clock, then another, then the first one again. From comparisons and a limit on how
// fast two clocks drift apart, [Bounds] gives the least and the largest reading of the other clock at
// any reading of the first: with no assumption on how long a reading or a message takes.
//
// A machine has three clocks: CLOCK_MONOTONIC, which stamps the history; CLOCK_MONOTONIC_RAW, which no time
// daemon changes; and CLOCK_BOOTTIME, which shows suspensions. A [Meter] makes a [Window] of many readings of
// the three. From windows and probes, which compare the raw clock with the coordinator's, a [Clock]
// bounds the coordinator's clock at any stamp.
//
// Two must-hold intervals overlap under every clock that the comparisons permit, under none, or it
// is undecided ([Span.Order]). docs/design/machines.md has the proofs, and the assumptions that remain.
package clocks
