package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
)

func TestHGRM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "hgrm")
	one := sample("private")[0]
	warm := one
	warm.Measures.Warmup = one.Measures.Measured
	warm.Measures.Warmup.Name = "warm-up"
	r := results.New([]results.Judged{one, warm}, nil)
	if err := results.HGRM(dir, &r); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	var want []string
	for _, phase := range []string{"lua-token-expire.measured", "lua-token-expire-2.measured", "lua-token-expire-2.warm-up"} {
		for _, op := range []string{"acquire", "handoff", "hold", "release"} {
			want = append(want, phase+"."+op+".hgrm")
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(names, want); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lua-token-expire.measured.release.hgrm"))
	if err != nil {
		t.Fatal(err)
	}
	// Releases took 90 us each, and values are in ms.
	if s := string(text); !strings.Contains(s, "0.090") || !strings.Contains(s, "Total count") {
		t.Errorf("not the percentiles expected:\n%s", s)
	}
}

func TestHGRMFailsLoudly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := results.New(sample("private"), nil)
	if err := results.HGRM(file, &r); err == nil {
		t.Error("a file in the directory's place: got no error")
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"lua-token/token": "lua-token-token", `a\b:c*d`: "a-b-c-d", "..": "unnamed", "": "unnamed", "ключ v1.2": "-----v1.2",
	} {
		if got := results.FileName(name); got != want {
			t.Errorf("FileName(%q): got %q, want %q", name, got, want)
		}
	}
}
