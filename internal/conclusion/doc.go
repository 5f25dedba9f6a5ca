// Package conclusion draws one conclusion from the findings on a lock: whether to use it.
//
// Findings come from three sources, which are named apart: a run, a search in virtual time,
// and the released matrix. A cell is as bad as its worst finding. The first row of one table
// that fits decides, see [Draw].
package conclusion
