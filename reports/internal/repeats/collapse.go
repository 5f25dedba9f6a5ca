package repeats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// Collapsed returns steps with repetitions folded: commands that a client repeats are listed once,
// followed by a step with the number of repetitions. Differences between repetitions, such as a
// time within a value, are left out.
func Collapsed(steps []results.Step) []results.Step {
	var out []results.Step
	for i := 0; i < len(steps); {
		period, times := repetition(steps[i:])
		if times < fewRepeats {
			out = append(out, steps[i])
			i++
			continue
		}
		out = append(out, steps[i:i+period]...)
		i += period * (1 + times)
		last := steps[i-1]
		last.Command, last.Reply = fmt.Sprintf("(the same %d times more)", times), ""
		out = append(out, last)
	}
	return out
}

const (
	longestPeriod = 4 // in steps: the commands of one attempt
	fewRepeats    = 2 // fewer repetitions are shown in full
)

// repetition returns the length of the shortest sequence at the start of steps that repeats, and
// its number of repetitions.
func repetition(steps []results.Step) (period, times int) {
	for period = 1; period <= longestPeriod && 2*period <= len(steps); period++ {
		for times = 0; same(steps, period, times+1); times++ {
		}
		if times >= fewRepeats {
			return period, times
		}
	}
	return 0, 0
}

// same reports whether the n-th period after the first equals the first.
func same(steps []results.Step, period, n int) bool {
	from := n * period
	if from+period > len(steps) {
		return false
	}
	for i := range period {
		if !sameStep(&steps[i], &steps[from+i]) {
			return false
		}
	}
	return true
}

// sameStep reports whether two steps differ at most in values that a clock or an expiring
// lease changes.
func sameStep(a, b *results.Step) bool {
	return a.Fault == "" && b.Fault == "" && a.Client == b.Client && slices.Equal(a.Holders, b.Holders) &&
		commandAndKey(a.Command) == commandAndKey(b.Command) && isNumber(a.Reply) == isNumber(b.Reply) &&
		(a.Reply == b.Reply || isNumber(a.Reply)) && a.Command != ""
}

// commandAndKey returns the command and its key, without the client's comment and without
// arguments.
func commandAndKey(command string) string {
	if _, after, found := strings.Cut(command, ": "); found {
		command = after
	}
	words := strings.Fields(command)
	if len(words) > 0 && strings.HasPrefix(words[0], "EVAL") {
		return strings.Join(words[:min(4, len(words))], " ") // script, number of keys, key
	}
	return strings.Join(words[:min(2, len(words))], " ")
}

// isNumber reports whether a reply is a number of some size: a time left.
func isNumber(reply string) bool {
	return len(reply) > 1 && strings.Trim(reply, "0123456789") == ""
}
