package explore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
)

// FuzzRerun runs every readable replay, of any design: the schedule is followed, or
// the result says that it cannot be.
func FuzzRerun(f *testing.F) {
	f.Add([]byte(lostUnnoticed))
	files, err := filepath.Glob("testdata/*/*.replay")
	if err != nil || len(files) == 0 {
		f.Fatalf("no replays in testdata: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		replay, err := explore.ReadReplay(bytes.NewReader(file))
		if err != nil {
			return
		}
		cfg, err := replay.Config()
		if err != nil {
			t.Fatalf("it was read, and its configuration is not: %v", err)
		}
		const most = 8 // beyond that it takes long, and nothing new
		designs, err := impls.Match(cfg.Design.Name)
		// A bounded pool needs a process of its own: the client library keeps timers
		// from one bubble to the next.
		if err != nil || cfg.Pool > 0 || cfg.Clients > most || cfg.Rounds > most || cfg.TTL > time.Minute || cfg.Wait > time.Minute {
			return
		}
		r, err := explore.Rerun(t.Context(), bubble.New(t), designs[0], replay)
		if err == nil && r.Coverage.Schedules != 1 {
			t.Errorf("got %d schedules and no error, want 1", r.Coverage.Schedules)
		}
	})
}
