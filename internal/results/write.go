package results

// A Report is what [Write] writes: a *[Result], *[Matrix], *[Comparison], *[LimitSearch],
// *[MatrixComparison], or what [Sweep] and [Explain] return.
type Report interface {
	// Kind is what JSON names it by.
	Kind() string
}
