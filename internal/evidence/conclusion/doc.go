// Package conclusion draws one conclusion from the findings on a lock: whether to use it.
//
// A cell is a guarantee under a set of conditions, an occasion one chance for it to be broken, and
// a breach a broken cell. Findings come from three sources: a run, an exploration in virtual time,
// and the released matrix, which is part of the program. A cell is as bad as its worst finding. A
// table of rules gives the conclusion: the first rule that fits decides, see [Draw].
package conclusion
