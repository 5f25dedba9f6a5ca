package luatoken

import "time"

// A retry gives the pause after a refused try. It is data: the obtain that uses
// it counts the tries, so that one value may serve many of them (libraries of
// this generation keep the count in the strategy, so a second user never
// retries).
type retry interface {
	// pause returns how long to wait after the nth refusal, n counting from 1;
	// zero or less means to give up.
	pause(n int) time.Duration
}

// none gives up at the first refusal. So does a nil retry.
type none struct{}

// pause implements retry.
func (none) pause(int) time.Duration { return 0 }

// linear always pauses for the same time.
type linear time.Duration

// pause implements retry.
func (l linear) pause(int) time.Duration { return time.Duration(l) }

// exponential pauses 2^n ms after the nth refusal, but no less than Min and no
// more than Max. Zero is no bound.
type exponential struct{ Min, Max time.Duration }

// pause implements retry.
func (e exponential) pause(n int) time.Duration {
	const longest = 40 // 2^40 ms are 35 years
	pause := max(e.Min, time.Millisecond<<min(n, longest))
	if e.Max > 0 {
		pause = min(pause, e.Max)
	}
	return pause
}

// limit gives up after Retries retries that follow Retry.
type limit struct {
	Retry   retry
	Retries int
}

// pause implements retry.
func (l limit) pause(n int) time.Duration {
	if n > l.Retries {
		return 0
	}
	return l.Retry.pause(n)
}
