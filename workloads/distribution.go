package workloads

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A Distribution is a length of time, constant or random. The zero value is the
// constant 0s. Distributions compare with ==.
//
// The text form, for flags and JSON, is one of these:
//
//	5ms                  always 5ms
//	uniform:1ms-5ms      anything from 1ms to 5ms
//	exp:5ms              exponential with mean 5ms
//	lognormal:5ms,0.8    log-normal with median 5ms and sigma 0.8, also
//	                     written lognormal:median=5ms,sigma=0.8
type Distribution struct {
	shape shape
	// a is the constant, the lower bound, the mean or the median; b the upper
	// bound of a uniform distribution.
	a, b  time.Duration
	sigma float64
}

type shape uint8

const (
	constant shape = iota
	uniform
	exponential
	logNormal
)

// shapeNames has the names in the text form, by shape; a constant has none.
var shapeNames = []string{uniform: "uniform", exponential: "exp", logNormal: "lognormal"}

const (
	// longest bounds parameters and samples, so that the long tail of a
	// distribution cannot overflow a time.Duration.
	longest = 24 * time.Hour
	// largestSigma bounds sigma: at 5 one draw in a thousand is already 5 million
	// times the median.
	largestSigma = 5.0
)

// Always returns the distribution of a constant.
func Always(d time.Duration) Distribution { return Distribution{a: d} }

// parseDistribution reads the text form of a [Distribution]. Its errors name the
// value and the reason, with a hint at valid values.
func parseDistribution(text string) (Distribution, error) {
	d, err := parseShape(text)
	if err != nil {
		return Distribution{}, fmt.Errorf("distribution %q: %w", text, err)
	}
	return d, nil
}

func parseShape(text string) (Distribution, error) {
	name, args, named := strings.Cut(text, ":")
	if !named {
		a, err := parseLength(text)
		return Distribution{a: a}, err
	}
	switch name {
	case shapeNames[uniform]:
		return parseUniform(args)
	case shapeNames[exponential]:
		mean, err := parseLength(args)
		return Distribution{shape: exponential, a: mean}, err
	case shapeNames[logNormal]:
		return parseLogNormal(args)
	}
	return Distribution{}, suggest.Unknown("shape", name, shapeNames[uniform:])
}

func parseUniform(args string) (Distribution, error) {
	low, high, ok := strings.Cut(args, "-")
	if !ok {
		return Distribution{}, fmt.Errorf("%q has no upper bound; hint: uniform:1ms-5ms", args)
	}
	a, err := parseLength(low)
	if err != nil {
		return Distribution{}, err
	}
	b, err := parseLength(high)
	if err != nil {
		return Distribution{}, err
	}
	if b < a {
		return Distribution{}, fmt.Errorf("upper bound %v is below lower bound %v; hint: uniform:%v-%v", b, a, b, a)
	}
	return Distribution{shape: uniform, a: a, b: b}, nil
}

func parseLogNormal(args string) (Distribution, error) {
	median, sigma, ok := strings.Cut(args, ",")
	if !ok {
		return Distribution{}, fmt.Errorf("%q has no sigma; hint: lognormal:5ms,0.8", args)
	}
	a, err := parseLength(strings.TrimPrefix(median, "median="))
	if err != nil {
		return Distribution{}, err
	}
	sigma = strings.TrimPrefix(sigma, "sigma=")
	s, err := strconv.ParseFloat(sigma, 64)
	if err != nil || !(s >= 0 && s <= largestSigma) {
		return Distribution{}, fmt.Errorf("sigma %q is no number from 0 to %v; hint: 0.8 spreads 95 %% of draws over a factor of 25", sigma, largestSigma)
	}
	return Distribution{shape: logNormal, a: a, sigma: math.Abs(s)}, nil
}

func parseLength(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration; hint: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8", text)
	case d < 0:
		return 0, fmt.Errorf("%v is negative; hint: 0s or more", d)
	case d > longest:
		return 0, fmt.Errorf("%v is too long; hint: at most %v", d, longest)
	}
	return d, nil
}

// String returns the shortest text form; parsing it gives the same Distribution.
func (d Distribution) String() string {
	switch d.shape {
	case uniform:
		return fmt.Sprintf("uniform:%v-%v", d.a, d.b)
	case exponential:
		return fmt.Sprintf("exp:%v", d.a)
	case logNormal:
		return fmt.Sprintf("lognormal:%v,%v", d.a, d.sigma)
	}
	return d.a.String()
}

// MarshalText implements encoding.TextMarshaler.
func (d Distribution) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Distribution) UnmarshalText(text []byte) error {
	parsed, err := parseDistribution(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}

// sample draws one length, at most 24h.
func (d Distribution) sample(r *rand.Rand) time.Duration {
	switch d.shape {
	case uniform:
		return d.a + time.Duration(r.Int64N(int64(d.b-d.a)+1))
	case exponential:
		return bounded(r.ExpFloat64() * float64(d.a))
	case logNormal:
		return bounded(math.Exp(d.sigma*r.NormFloat64()) * float64(d.a))
	}
	return d.a
}

// min is the shortest length that can be drawn.
func (d Distribution) min() time.Duration {
	if d.shape == constant || d.shape == uniform || d.sigma == 0 && d.shape == logNormal {
		return d.a
	}
	return 0
}

// Mean is the mean length.
func (d Distribution) Mean() time.Duration {
	switch d.shape {
	case uniform:
		return d.a + (d.b-d.a)/2
	case logNormal:
		return bounded(math.Exp(d.sigma*d.sigma/2) * float64(d.a))
	}
	return d.a
}

func bounded(ns float64) time.Duration {
	return time.Duration(min(ns, float64(longest)))
}
