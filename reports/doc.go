// Package reports shows findings: results of runs and explorations, matrices, comparisons and
// limits. [Write] writes them in every form, [Read] reads them back from JSON.
//
// Each report is turned into one document, from which all forms are drawn, so that they all
// say the same. Nothing here prints, and nothing is decided while it is written.
package reports
