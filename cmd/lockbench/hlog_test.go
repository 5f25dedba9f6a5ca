package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hdrHistogram is the path of HdrHistogram's own programs in Debian's libhdrhistogram-java.
const hdrHistogram = "/usr/share/java/hdrhistogram.jar"

// TestOthersReadIntervalLogs checks that HdrHistogram's own HistogramLogProcessor reads the same
// figures from an interval log as lockbench's JSON has for the run, to the last digit.
func TestOthersReadIntervalLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	_, absent := os.Stat(hdrHistogram)
	if _, err := exec.LookPath("java"); (err != nil || absent != nil) && os.Getenv("LOCKBENCH_REQUIRE_JAVA") != "1" {
		t.Skip("needs java and " + hdrHistogram)
	}
	t.Parallel()
	dir := t.TempDir()
	log, result := filepath.Join(dir, "run.hlog"), filepath.Join(dir, "run.json")
	// Holds of 2 ms make the run last for one whole interval and one that the end cuts. The log has
	// the warm-up, the JSON does not.
	cmd := exec.CommandContext(t.Context(), "lockbench", "run", "-q", "--design", "lua-token/strategy", "--workload", "mutex",
		"--clients", "4", "--keys", "2", "--stallers", "0", "--warmup", "0s", "--hold", "2ms", "--operations", "1500",
		"--out", "hlog="+log, "--out", "json="+result)
	cmd.Env = append(os.Environ(), noServer, "PATH="+filepath.SplitList(os.Getenv("PATH"))[0])
	out, _ := cmd.CombinedOutput() // the machine decides whether it met enough
	t.Logf("%s", out)
	var ran struct {
		Runs []struct {
			Latency map[string]distribution
		}
	}
	if err := json.Unmarshal([]byte(contents(t, result)), &ran); err != nil || len(ran.Runs) != 1 {
		t.Fatalf("%d runs, %v; want one", len(ran.Runs), err)
	}
	for _, tag := range []string{"acquire", "release", "hold"} {
		t.Run(tag, func(t *testing.T) {
			want, got := ran.Runs[0].Latency[tag], processed(t, log, tag)
			if want.Count == 0 || len(want.Spectrum.NS) < 20 {
				t.Fatalf("nothing to compare in %+v", want)
			}
			for i, share := range want.Spectrum.Shares {
				value, ok := got.at[fmt.Sprintf("%.9f", share)]
				if !ok || value != want.Spectrum.NS[i] {
					t.Errorf("%v of them: HdrHistogram says %d (%t), lockbench %d", share, value, ok, want.Spectrum.NS[i])
				}
			}
			if diff := cmp.Diff([]int64{got.count, got.max}, []int64{want.Count, want.Max}); diff != "" {
				t.Errorf("how many, and the longest (-HdrHistogram +lockbench):\n%s", diff)
			}
		})
	}
}

// distribution is one of the JSON result.
type distribution struct {
	Count    int64
	Max      int64 `json:"max_ns"`
	Spectrum struct {
		Shares []float64
		NS     []int64
	}
}

// percentiles are HdrHistogram's figures of a log.
type percentiles struct {
	at         map[string]int64 // by the share, to nine digits
	count, max int64
}

var (
	percentileLine = regexp.MustCompile(`(?m)^ *(\d+)\.\d+ (\d\.\d+) +\d+`)
	totalsLine     = regexp.MustCompile(`#\[Max *= *(\d+)\.\d+, Total count *= *(\d+)\]`)
)

func processed(t *testing.T, log, tag string) percentiles {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "java", "-cp", hdrHistogram, "org.HdrHistogram.HistogramLogProcessor",
		"-i", log, "-tag", tag, "-outputValueUnitRatio", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("HistogramLogProcessor: %v\n%s", err, out)
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	totals := totalsLine.FindStringSubmatch(string(out))
	if totals == nil {
		t.Fatalf("HistogramLogProcessor prints no totals:\n%s", out)
	}
	p := percentiles{at: map[string]int64{}, max: number(totals[1]), count: number(totals[2])}
	for _, m := range percentileLine.FindAllStringSubmatch(string(out), -1) {
		share, err := strconv.ParseFloat(strings.TrimSpace(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		p.at[fmt.Sprintf("%.9f", math.Round(share*1e9)/1e9)] = number(m[1]) // halves upwards, as lockbench does
	}
	return p
}
