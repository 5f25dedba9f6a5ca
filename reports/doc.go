// Package reports shows what was found: results of runs and explorations, matrices,
// comparisons and limits. [Write] writes them in every form, [Read] reads them back from JSON.
//
// Each of them is turned into one document, which all forms are drawn from, so that all of
// them say the same. Nothing here prints, and nothing is decided while it is written.
package reports
