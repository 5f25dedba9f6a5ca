// Package html shows results, comparisons and matrices as self-contained pages: verdicts,
// figures, charts, and for every broken guarantee the picture that explains it. A page asks
// no network for anything. Pictures of a result can be had by themselves, too, as SVG.
package html
