package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/results"
)

// TestStamps: a report says that an adapter's clock timed the calls, if it did so in all runs.
func TestStamps(t *testing.T) {
	const says = "times of the adapter's clock"
	for _, stamps := range [][]string{{"", ""}, {history.AdapterStamps, history.AdapterStamps}, {history.AdapterStamps, ""}} {
		runs := []results.Judged{judged(header("one/lock", "private"), 100), judged(header("other/lock", "private"), 100)}
		for i := range runs {
			runs[i].Header.Stamps = stamps[i]
		}
		r := results.New(runs, nil)
		if err := compile(t, true).Validate(encodedResult(t, r)); err != nil {
			t.Errorf("the JSON result: %v", err)
		}
		for _, form := range []Form{Text, Markdown, HTML} {
			var buf bytes.Buffer
			if err := Write(&buf, form, &r, Options{}); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(strings.ReplaceAll(buf.String(), "&#39;", "'"), says), stamps[0] == stamps[1] && stamps[0] != ""; got != want {
				t.Errorf("stamps %q: form %v says so: %v, want %v", stamps, form, got, want)
			}
		}
	}
}
