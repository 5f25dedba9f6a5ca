package results

// damages names the figures of a business that count damage. They are zero unless something went
// wrong.
var damages = []string{"oversold", "overdrawn", "repeated"}

// DamageName returns the name of the figure that [Run.Damage] returns; empty if the workload counts
// no damage.
func (r *Run) DamageName() string {
	for _, name := range damages {
		if _, counted := r.Business.Figure(name); counted {
			return name
		}
	}
	return ""
}

// Damage returns the damage that the workload of the run suffered, in its own unit: units oversold,
// points overdrawn, or periods with a repeated job. It is zero if there was none, or if none was
// counted.
func (r *Run) Damage() (n int64) {
	for _, name := range damages {
		figure, _ := r.Business.Figure(name)
		n += figure
	}
	return n
}
