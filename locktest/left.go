package locktest

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
)

// leftTaken says for how long abandoned acquires left keys taken with no owner, in one history;
// empty if no owner was affected.
func leftTaken(file string) (string, error) {
	src, err := history.Open(file)
	if err != nil {
		return "", err
	}
	c := measure.New(src.Header())
	for ev, err := range src.Events() {
		if err != nil {
			return "", err
		}
		c.Add(ev)
	}
	l := c.SoFar().Measured.Latency(measure.LeftTaken)
	if l.Count() == 0 {
		return "", nil
	}
	return fmt.Sprintf("acquires that were given up left their key taken for nobody %s, for up to %v", figures.Plural(l.Count(), "time"), l.Max().Round(time.Millisecond)), nil
}
