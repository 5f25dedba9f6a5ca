// Package statistics reports whether repeated measurements of two things differ, without
// assuming any distribution: medians, and the Mann-Whitney test.
//
// What happens on a machine meets neighbours alike: runs of one minute resemble each other
// more than those of the next. So where two things took turns, only runs of one Block, taken
// near each other, are compared, and the blocks are added up (P. van Elteren 1960). With one
// block it is the Mann-Whitney test.
//
// Whoever looks at twenty figures at a level of 5 % finds one that differs by chance. So
// what is shown together is tested together: a Family corrects for the number of its tests
// (Holm's step-down method, which holds however the figures depend on each other), so that
// of a hundred tables of equals ninety-eight say nowhere that there is a difference. Most of
// the level goes to the figures that matter most, which the others therefore hardly blunt.
package statistics
