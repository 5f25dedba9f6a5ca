// Package html writes a document as a self-contained page: its tables, charts, and for every
// counterexample the picture that explains it. A page makes no network requests. Pictures
// are available by themselves, too, as SVG.
package html
