// Package conclusion draws one conclusion from what is known of a lock: whether to use it.
//
// What is known comes from three sources, which are said apart: what a run saw, what a search
// in virtual time found, and what the released matrix has. A cell is as bad as the worst of
// them says. The first row of one table that fits decides, see [Draw].
package conclusion
