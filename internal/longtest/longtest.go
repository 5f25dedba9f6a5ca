package longtest

import (
	"os"
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
