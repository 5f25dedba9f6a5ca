package longtest

import (
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that, set to 1, turns long tests on.
const Variable = "LOCKBENCH_LONG_TESTS"

// On reports whether long tests are on.
func On() bool { return os.Getenv(Variable) == "1" }

// Only skips t unless long tests are on. A shorter test has to show the same as t.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skipf("takes long; hint: %s=1", Variable)
	}
}

// Times returns the number of repetitions: few, or many if long tests are on.
func Times(few, many int) int {
	if On() {
		return many
	}
	return few
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
