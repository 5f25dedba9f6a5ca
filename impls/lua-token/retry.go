package luatoken

import "time"

// A Retry says how long to pause after a refused try. It is data: what counts
// the tries is the Obtain that uses it, so that one value may serve many Obtains
// (libraries of this generation keep the count in the strategy, and then the
// second Obtain never retries).
type Retry interface {
	// Pause returns how long to wait after the nth refusal, n counting from 1;
	// zero or less is to give up.
	Pause(n int) time.Duration
}

// None gives up at the first refusal. So does a nil Retry.
type None struct{}

// Pause implements Retry.
func (None) Pause(int) time.Duration { return 0 }

// Linear pauses for as long every time.
type Linear time.Duration

// Pause implements Retry.
func (l Linear) Pause(int) time.Duration { return time.Duration(l) }

// Exponential pauses 2^n ms after the nth refusal, but no less than Min and no
// more than Max. Zero is no bound.
type Exponential struct{ Min, Max time.Duration }

// Pause implements Retry.
func (e Exponential) Pause(n int) time.Duration {
	const longest = 40 // 2^40 ms are 35 years
	pause := max(e.Min, time.Millisecond<<min(n, longest))
	if e.Max > 0 {
		pause = min(pause, e.Max)
	}
	return pause
}

// Limit gives up after Retries retries that follow Retry.
type Limit struct {
	Retry   Retry
	Retries int
}

// Pause implements Retry.
func (l Limit) Pause(n int) time.Duration {
	if n > l.Retries {
		return 0
	}
	return l.Retry.Pause(n)
}
