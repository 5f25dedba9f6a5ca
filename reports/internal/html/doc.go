// Package html writes a document as a self-contained page: its tables, charts, and for every
// counterexample the picture that explains it. A page asks no network for anything. Pictures
// can be had by themselves, too, as SVG.
package html
