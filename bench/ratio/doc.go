// Ratio reports whether lockbench NEW does more work per second than lockbench OLD, or less. Both
// are binaries; they run the same commands in turns, and each pair of turns gives one ratio for
// each row of the table:
//
//	run-wall        pairs of acquire and release per second
//	run-cpu         the same per processor second of lockbench; the server's are not counted
//	check-wall      operations of a saved history that are judged per second
//	check-cpu       the same per processor second
//	explore-orders  schedules per processor second: interleavings and the passing of time
//	explore-faults  the same with one fault in a schedule
//	explore-broken  the same for a design that breaks, shrinking of schedules included
//
// All figures are work per second, so a ratio NEW/OLD above 1 means that NEW is better. Each row
// shows the median of the ratios, and an interval for the true median that assumes no distribution:
// two order statistics of the ratios. The word is "same" if the interval contains 1; then no value
// within it is ruled out. If the interval reaches a tenth or more from 1, the report says so: on a
// machine with other work even processor time varies by more, since a core that two threads share
// is slower for both.
//
// The intervals of all rows hold together in at least 95 % of runs: each has 1/rows of the 5 %
// (Bonferroni). So of a hundred runs of a binary with itself at least 95 say "same" in every row.
// Fewer rows make narrower intervals, and so do more pairs.
//
// Ratio makes the history itself, once; both binaries must be able to read its format. They need
// not agree on the findings of a command: exit codes 0, 1 and 3 are verdicts, and all of them are
// measured.
//
//	ratio [-pairs 16] [-ops 20000000] [-rows check,explore-faults] OLD NEW
//
// It exits with 2 if the command line is wrong, or a binary fails.
package main
