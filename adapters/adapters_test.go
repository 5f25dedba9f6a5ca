package adapters_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/adapters"
)

// TestNew writes a starter of each language, once, and says how to start it.
func TestNew(t *testing.T) {
	for _, language := range adapters.Languages() {
		dir := filepath.Join(t.TempDir(), "mine")
		wrote, err := adapters.New(language, dir, false)
		if err != nil || len(wrote) < 2 {
			t.Fatalf("%s: wrote %v, error %v", language, wrote, err)
		}
		if _, err := adapters.New(language, dir, false); err == nil || !strings.Contains(err.Error(), "exists; hint: ") {
			t.Errorf("%s again: error %v", language, err)
		}
		if _, err := adapters.New(language, dir, true); err != nil {
			t.Errorf("%s again, by force: %v", language, err)
		}
		hint := adapters.Hint(language, "mine")
		if !strings.Contains(hint, "lockbench run --adapter '") || strings.Contains(hint, "%") {
			t.Errorf("%s: hint %q", language, hint)
		}
	}
	if _, err := adapters.New("cobol", t.TempDir(), false); err == nil {
		t.Error("cobol: no error")
	}
}

// TestLength keeps adapters short, so that they can be read.
func TestLength(t *testing.T) {
	kits := map[string]bool{"lockbench_adapter.py": true, "lockbench-adapter.js": true, "lockbench_adapter.php": true, "Adapter.java": true, "lib.rs": true}
	found := 0
	for pattern, most := range map[string]int{"python/*.py": 80, "node/*.js": 80, "php/*.php": 80, "java/src/main/java/lockbench/*.java": 80, "rust/src/bin/*.rs": 80, "go/cmd/etcd/*.go": 110, "go/cmd/*pglock/*.go": 110} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if kits[filepath.Base(path)] {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found++
			if n := strings.Count(string(text), "\n"); n > most {
				t.Errorf("%s has %d lines, want %d at most", path, n, most)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d adapters, want 20 or more", found)
	}
}
