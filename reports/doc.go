// Package reports shows findings to people: results of runs and explorations, matrices, comparisons
// and limits. [Write] writes a report in any form, and [Read] reads one back from JSON.
//
// Each report is turned into one document, and all forms show that document, so that they all say
// the same. The package never prints, and decides nothing: verdicts and exit codes are part of the
// reports.
//
// A cell is a guarantee under a set of conditions, and an occasion one chance for it to be broken.
// A point is the combination of the numbers of clients and keys of a run. A source of findings is
// the run itself, an exploration, or the released matrix, which is part of the program.
package reports
