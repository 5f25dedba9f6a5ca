package history

// Business is what the clients of a run came to in the words of their workload, as the driver
// counted it and the store had it at the end.
type Business struct {
	// Says is one sentence; empty where nothing can be said.
	Says string `json:"says,omitempty"`
	// Figures are counts by name, such as sold, gone and oversold; nil where nothing can be said.
	Figures map[string]int64 `json:"figures,omitempty"`
	// Why nothing can be said: the store lost data, or could not be read. Empty where there
	// are figures.
	Why string `json:"why,omitempty"`
}

// Figure returns the figure of that name, and false where there is none. A nil Business has none.
func (b *Business) Figure(name string) (n int64, known bool) {
	if b == nil {
		return 0, false
	}
	n, known = b.Figures[name]
	return n, known
}
