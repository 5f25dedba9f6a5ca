// Package results has what was found, as data: results of runs and explorations, matrices,
// comparisons and limits. [New] and its like make them of judged histories, [Compare] compares
// them, and [Read] and [WriteJSON] read and write them. Package reports shows them to people;
// nothing here knows a document or a renderer.
package results
