// Ratio reports whether lockbench NEW does more work per second than lockbench OLD, or less. Both
// are binaries; they run the same commands in turns. A round is OLD NEW NEW OLD, or NEW OLD OLD NEW,
// so that a machine that becomes slower or faster favours neither; it gives one ratio for each row
// of the table:
//
//	run-wall        pairs of acquire and release per second
//	run-cpu         the same per processor second of lockbench, user and system; the server's are not counted
//	check-wall      operations of a saved history that are judged per second
//	check-cpu       the same per processor second
//	explore-orders  schedules per processor second: interleavings and the passing of time
//	explore-faults  the same with one fault in a schedule
//	explore-broken  the same for a design that breaks, shrinking of schedules included
//
// All figures are work per second, so a ratio NEW/OLD above 1 means that NEW is better. Each row
// shows the median of the ratios, and an interval for the true median that assumes no distribution:
// two order statistics of the ratios. NEW does at least 0.97 of OLD, for example, if the interval
// begins there or above. The word is "same" if the interval contains 1; then no value within it is
// ruled out. If the interval reaches more than 3 % from 1, the report says so: on a machine with
// other work even processor time varies by more, since a core that two threads share is slower for
// both. Many rounds of short turns make a narrow interval: if turns vary by 3 %, 40 rounds make an
// interval of 1.6 % either way. A turn takes half a second to a second and a half. The start of the
// process is a twentieth of that at most (a tenth if it explores).
//
// The intervals of all rows hold together in at least 95 % of runs: each has 1/rows of the 5 %
// (Bonferroni). So of a hundred runs of a binary with itself at least 95 say "same" in every row.
// Fewer rows make narrower intervals, and so do more rounds.
//
// Ratio makes the history itself, once; both binaries must be able to read its format. They need
// not agree on the findings of a command: exit codes 0, 1 and 3 are verdicts, and all of them are
// measured.
//
//	ratio [-rounds 40] [-ops 1000000] [-rows check,explore-faults] OLD NEW
//
// It exits with 2 if the command line is wrong, or a binary fails.
package main
