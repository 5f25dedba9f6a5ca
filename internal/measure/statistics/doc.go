// Package statistics reports whether repeated measurements of two things differ, without
// assuming any distribution: medians, and the Mann-Whitney test.
//
// Disturbances of a machine affect neighbouring runs alike: runs of one minute resemble each
// other more than runs of the next. So if two things took turns, only runs of one Block,
// made near each other, are compared, and the blocks are added up (P. van Elteren 1960).
// With one block it is the Mann-Whitney test.
//
// In twenty figures at a level of 5 % one differs by chance. So figures that are shown together are
// tested together: a Family corrects for the number of its tests (Holm's step-down method, which
// holds however the figures depend on each other), so that ninety-eight of a hundred tables of
// equal things show no difference at all. Most of the level goes to the main figures, so the other
// figures hardly weaken them.
package statistics
