// Package html shows results as one self-contained page: verdicts, charts, and for every
// broken guarantee the picture that explains it. The page asks no network for anything.
package html
