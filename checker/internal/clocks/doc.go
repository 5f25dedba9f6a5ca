// Package clocks orders the holds of several machines, whose clocks are only known within bounds.
//
// A [Comparison] reads a clock, then another, then the first one again. From comparisons and a limit on how
// fast two clocks drift apart, [Bounds] gives the least and the largest reading of the other clock at
// any reading of the first: with no assumption on how long a reading or a message takes. A [Clock]
// is that of one machine, by three kinds of comparisons: of CLOCK_MONOTONIC, which stamps the history,
// with CLOCK_MONOTONIC_RAW, which no time daemon changes; of that with the clock of the coordinator; and
// of CLOCK_MONOTONIC with CLOCK_BOOTTIME, which shows suspensions.
//
// Two must-hold intervals overlap under every clock that the comparisons permit, under none, or it
// is undecided ([Span.Order]). docs/design/machines.md has the proofs, and the assumptions that remain.
package clocks
