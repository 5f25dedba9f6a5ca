// Package reports says what was found: results of runs and explorations, matrices, comparisons
// and limits. [New] and its like make them of judged histories, [Compare] compares them, [Read]
// reads them back from JSON, and [Write] writes them in every form.
//
// Each of them is turned into one document, which all forms are drawn from, so that all of
// them say the same. Nothing here prints, and nothing is decided while it is written.
package reports
