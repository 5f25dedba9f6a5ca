package thresholds

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Unit is the unit of a metric's values, with its notation.
type Unit string

// The units.
const (
	Duration Unit = "duration" // ns; written as Go durations, 20ms
	Count    Unit = "count"    // a whole number
	Share    Unit = "share"    // 0 to 1; written 10% or 0.1
	Rate     Unit = "per second"
	Number   Unit = "number" // a ratio or an index
)

// examples has a value of each unit, for hints.
var examples = map[Unit]string{Duration: "20ms", Count: "0", Share: "10%", Rate: "1000", Number: "2.5"}

// parse parses a value of the unit. The error hints at its form.
func (u Unit) parse(text string) (float64, error) {
	var value float64
	var err error
	switch u {
	case Duration:
		value, err = parseDuration(text)
	case Share:
		value, err = parseShare(text)
	case Rate:
		value, err = parseNumber(strings.TrimSuffix(text, "/s"))
	default:
		value, err = parseNumber(text)
	}
	switch {
	case err != nil:
		return 0, err
	case value < 0:
		return 0, fmt.Errorf("%s is below zero", text)
	case u == Count && value != math.Trunc(value):
		return 0, fmt.Errorf("%s is not a whole number", text)
	}
	return value, nil
}

// longestDuration is the longest duration that a float64 represents to the nanosecond: 104 days.
const longestDuration = time.Duration(1 << 53)

func parseDuration(text string) (float64, error) {
	switch d, err := time.ParseDuration(text); {
	case err == nil && d > longestDuration:
		return 0, fmt.Errorf("%s is longer than %v", text, longestDuration.Truncate(time.Hour))
	case err == nil:
		return float64(d), nil
	}
	if _, err := parseNumber(text); err == nil {
		return 0, fmt.Errorf("%s has no unit of time", text)
	}
	return 0, fmt.Errorf("%q is no duration", text)
}

func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := parseNumber(strings.TrimSpace(number))
	if percent {
		value /= 100
	}
	switch {
	case err != nil:
		return 0, err
	case value > 1:
		return 0, fmt.Errorf("%s is more than all", text)
	}
	return value, nil
}

// parseNumber parses a decimal number. It returns an error for other forms of floats, such as Inf.
func parseNumber(text string) (float64, error) {
	if strings.Trim(text, "0123456789.eE+-") == "" {
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return value, nil
		}
	}
	if _, err := time.ParseDuration(text); err == nil {
		return 0, fmt.Errorf("%s is a duration", text)
	}
	if strings.HasSuffix(text, "%") {
		return 0, fmt.Errorf("%s is a share", text)
	}
	return 0, fmt.Errorf("%q is no number", text)
}

// Format formats a value of the unit for people, with about three digits.
func (u Unit) Format(value float64) string {
	switch u {
	case Duration:
		return written(rounded(time.Duration(value)))
	case Count:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case Share:
		return strconv.FormatFloat(100*value, 'g', 3, 64) + "%"
	case Rate:
		return tidy(value) + "/s"
	}
	return tidy(value)
}

// text formats a value of the unit in a form that parse accepts.
func (u Unit) text(value float64) string {
	if u == Duration {
		return written(time.Duration(value))
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

// written formats a duration in its usual form: 1h rather than 1h0m0s.
func written(d time.Duration) string {
	s := strings.ReplaceAll(d.String(), "µ", "u")
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// rounded returns d rounded to three digits.
func rounded(d time.Duration) time.Duration {
	step := time.Duration(1)
	for d/step >= 1000 {
		step *= 10
	}
	return d.Round(step)
}

// tidy formats a number with three digits, and whole numbers in full.
func tidy(value float64) string {
	if math.Abs(value) >= 100 || value == math.Trunc(value) {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}
