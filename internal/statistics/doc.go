// Package statistics tells whether repeated measurements of two things differ, without
// assuming any distribution: medians, and the Mann-Whitney test of golang.org/x/perf.
//
// Whoever looks at twenty figures at a level of 5 % finds one that differs by chance. So
// what is shown together is tested together: a Family corrects for the number of its tests
// (Holm's step-down method, which holds however the figures depend on each other), so that
// of a hundred tables of equals ninety-nine say nowhere that there is a difference.
package statistics
