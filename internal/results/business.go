package results

// damages are the figures of a business that are zero unless something went wrong in it.
var damages = []string{"oversold", "overdrawn", "repeated"}

// DamageName is the figure that Damage is; empty where nothing is counted.
func (r *Run) DamageName() string {
	for _, name := range damages {
		if _, counted := r.Business.Figure(name); counted {
			return name
		}
	}
	return ""
}

// Damage is the damage to the business of the run, in its own unit: units oversold, points
// overdrawn, periods whose job was repeated. Zero is none, or none that is known.
func (r *Run) Damage() (n int64) {
	for _, name := range damages {
		figure, _ := r.Business.Figure(name)
		n += figure
	}
	return n
}
