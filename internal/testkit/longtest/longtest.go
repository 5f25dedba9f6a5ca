package longtest

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that turns long tests on: 1, or the share of their size, above 0,
// such as 0.3.
const Variable = "LOCKBENCH_LONG_TESTS"

// share returns the share of the size of long tests, zero if they are off.
func share() float64 {
	text := os.Getenv(Variable)
	if text == "" {
		return 0
	}
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s >= 0 && s <= 1) {
		panic(fmt.Sprintf("%s=%s; hint: 1, or a share of it, such as 0.3", Variable, text))
	}
	return s
}

// On reports whether long tests are on.
func On() bool { return share() > 0 }

// Full reports whether long tests are on in their whole size.
func Full() bool { return share() == 1 }

// Only skips t unless long tests are on. A shorter test has to show the same as t.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skipf("takes long; hint: %s=1", Variable)
	}
}

// Times returns the number of repetitions: few, or many if long tests are on. A share of their size makes
// that share of many, and at least few.
func Times(few, many int) int {
	s := share()
	switch {
	case s == 0:
		return few
	case many <= few:
		return many
	}
	return max(few, int(s*float64(many)))
}

// Picks reports whether a long test has number n of its parts: all of them, or evenly chosen ones by the
// share of its size. The seed changes the choice.
func Picks(n int, seed uint32) bool {
	s, at := share(), float64(n)+float64(seed%1000)
	return math.Floor(at*s) != math.Floor((at+1)*s)
}

// Campaigns is the environment variable that, set to 1, turns campaigns on.
const Campaigns = "LOCKBENCH_CAMPAIGNS"

// Campaign skips t unless campaigns are on.
func Campaign(t testing.TB) {
	t.Helper()
	if !campaigns() {
		t.Skipf("is a campaign; hint: %s=1", Campaigns)
	}
}

func campaigns() bool { return os.Getenv(Campaigns) == "1" }

// Size returns a size of a campaign, which is at least 1: the environment variable name, or usual
// if that is not set or campaigns are off.
func Size(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if !campaigns() || text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s; hint: a number, 1 or more", name, text)
	}
	return n
}
