package thresholds

import (
	"fmt"
	"slices"
	"strings"
)

// ParseThresholdOf is like [ParseThreshold], and returns an error for a metric that results of kind
// of do not have.
func ParseThresholdOf(text string, of Source) (Threshold, error) {
	t, err := ParseThreshold(text)
	if err == nil {
		err = offered(t.Metric, of)
	}
	return t, err
}

// ParseComparisonOf is like [ParseComparison], and returns an error for a metric that results of
// kind of do not have.
func ParseComparisonOf(text string, of Source) (Comparison, error) {
	c, err := ParseComparison(text)
	if err == nil {
		err = offered(c.Metric, of)
	}
	return c, err
}

// offered returns an error if results of kind of do not have the metric m.
func offered(m Metric, of Source) error {
	switch {
	case m.Sources&of != 0:
		return nil
	case of == Live:
		return fmt.Errorf("%s is a metric of lockbench explore; hint: lockbench list metrics has those of runs", m.Name)
	}
	return fmt.Errorf("%s is a metric of single runs; hint: here there are %s", m.Name, strings.Join(exploredMetrics(), ", "))
}

// exploredMetrics returns the names of the metrics of explorations. The name of a metric of cells
// is in it once, for all cells.
func exploredMetrics() (names []string) {
	for _, m := range Metrics() {
		name := m.Name
		if guarantee, _, each := strings.Cut(name, "."); each {
			name = "CELL" + strings.TrimPrefix(name, guarantee)
		}
		if m.Sources&Explored != 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
