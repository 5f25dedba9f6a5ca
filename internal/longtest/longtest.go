package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that, set to 1, has tests take their time.
const Variable = "LOCKBENCH_LONG_TESTS"

// On returns whether tests are to take their time.
func On() bool { return os.Getenv(Variable) == "1" }

// Only skips t unless tests are to take their time. What t is to show has to be shown
// by a shorter test, too.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skipf("takes long; hint: %s=1", Variable)
	}
}

// Times returns how often to do something: few times, or many where tests are to take
// their time.
func Times(few, many int) int {
	if On() {
		return many
	}
	return few
}
