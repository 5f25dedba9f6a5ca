package explore_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestSameOnEveryMachine searches for a few faults in processes of their own, with
// one thread and with several, and with a rare and with a constant garbage
// collection: the schedules found and their numbers equal the files, byte for byte.
func TestSameOnEveryMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	names := []string{
		"setnx-getset-timestamp.clock-ahead",            // clocks
		"lua-token-options.late-unlock",                 // cancelled calls, random tokens
		"hash-reentrant-watchdog.dead-thread",           // a thread in the background
		"hash-reentrant-watchdog.renewal-error",         // which meets a broken connection
		"watch-multi-give-up.release-delay-before-read", // transactions
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, settings := range [][]string{
		{"GOMAXPROCS=1", "GOGC=400"}, {"GOMAXPROCS=2", "GOGC=10"}, {"GOMAXPROCS=8", "GOGC=off"},
	} {
		t.Run(strings.Join(settings, ","), func(t *testing.T) {
			search := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", "^TestFaultsAreFound$/^("+strings.Join(names, "|")+")$")
			search.Env = append(os.Environ(), append(settings, longtest.Variable+"=1")...) // or some are left out
			out, err := search.CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			for _, name := range names {
				if !strings.Contains(string(out), "--- PASS: TestFaultsAreFound/"+name+" ") {
					t.Errorf("%s was not searched for; hint: is it found soon?", name)
				}
			}
		})
	}
}
