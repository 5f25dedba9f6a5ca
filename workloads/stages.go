package workloads

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Stage leads the rate of arrivals, in a straight line, to a target.
type Stage struct {
	// Duration is how long it takes. At zero the rate jumps.
	Duration time.Duration
	// Rate is the target, in arrivals per second of all clients together.
	Rate float64
}

// Stages are a timetable of rates, one stage after the other from the start of the
// run on. The first begins at [Options].Rate, which is zero unless given.
//
// The text form, for flags and JSON, is DURATION:RATE, separated by commas, such as
// 30s:100,1m:1000,30s:0.
type Stages []Stage

const (
	// highestRate bounds rates: above it arrivals would share a nanosecond.
	highestRate = 1e9
	// longestStage and mostStages keep the length of all stages in a time.Duration.
	longestStage = 1000 * time.Hour
	mostStages   = 1000
)

// parseStages reads the text form of [Stages]. Its errors name the value and the
// reason, with a hint at valid values.
func parseStages(text string) (Stages, error) {
	parts := strings.Split(text, ",")
	if len(parts) > mostStages {
		return nil, fmt.Errorf("stages: %d of them; hint: at most %d", len(parts), mostStages)
	}
	stages := make(Stages, 0, len(parts))
	for _, part := range parts {
		s, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", part, err)
		}
		stages = append(stages, s)
	}
	return stages, nil
}

func parseStage(text string) (s Stage, err error) {
	length, rate, ok := strings.Cut(text, ":")
	if !ok {
		return s, fmt.Errorf("it has no rate; hint: DURATION:RATE, such as 30s:100")
	}
	if s.Duration, err = time.ParseDuration(length); err != nil {
		return s, fmt.Errorf("%q is no duration; hint: DURATION:RATE, such as 30s:100", length)
	}
	if s.Rate, err = strconv.ParseFloat(rate, 64); err != nil {
		return s, fmt.Errorf("%q is no rate; hint: arrivals per second, such as 30s:100", rate)
	}
	return s, s.check()
}

// check returns the reason why s is not valid.
func (s Stage) check() error {
	switch {
	case s.Duration < 0:
		return fmt.Errorf("%v is negative; hint: 0s to jump to the rate", s.Duration)
	case s.Duration > longestStage:
		return fmt.Errorf("%v is too long; hint: at most %v", s.Duration, longestStage)
	case !isRate(s.Rate):
		return fmt.Errorf("%v is no rate; hint: arrivals per second, from 0 to %.0f", s.Rate, highestRate)
	}
	return nil
}

// isRate reports whether r is a valid number of arrivals per second.
func isRate(r float64) bool { return r >= 0 && r <= highestRate }

// Length is how long all stages take together.
func (s Stages) Length() (all time.Duration) {
	for _, stage := range s {
		all += stage.Duration
	}
	return all
}

// String returns the text form; parsing it gives the same Stages.
func (s Stages) String() string {
	parts := make([]string, len(s))
	for i, stage := range s {
		parts[i] = stage.Duration.String() + ":" + strconv.FormatFloat(stage.Rate, 'f', -1, 64)
	}
	return strings.Join(parts, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (s Stages) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stages) UnmarshalText(text []byte) error {
	parsed, err := parseStages(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}
