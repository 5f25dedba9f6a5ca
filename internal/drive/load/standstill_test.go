package load

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// stands is a service beside the clients that answers no question between two instants.
type stands struct {
	design.Service
	from, until time.Time
	closed      *int
}

func (stands) Local() bool { return true }

func (s stands) Ask() (ask func(context.Context) error, close func() error) {
	ask = func(ctx context.Context) error {
		if now := time.Now(); !now.Before(s.from) && now.Before(s.until) {
			select {
			case <-time.After(time.Until(s.until)):
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	return ask, func() error { *s.closed++; return nil }
}

// TestStandstillIsRecorded: a run has its server's standstill in its history, and nothing else.
func TestStandstillIsRecorded(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"stands still": 300 * time.Millisecond, "does not": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var record bytes.Buffer
				closed := 0
				from := time.Now().Add(500 * time.Millisecond)
				o := options(func(o *workloads.Options) { o.Duration = time.Second })
				_, err := Run(t.Context(), Config{
					Design:   slowly(catalogued(t, "lua-token/strategy")),
					Services: backend.Group{stands{embedded(t), from, from.Add(lasts), &closed}}, Records: embedded(t),
					Workload: workloads.Must("oversell"), Options: o, History: &record,
				})
				if err != nil {
					t.Fatal(err)
				}
				if closed != 1 {
					t.Errorf("the connection of its own was closed %d times, want once", closed)
				}
				_, result, _ := judge(t, record.Bytes())
				if got := result.Standstills; (lasts > 0) != (got.Times == 1) || got.For < lasts || got.For > lasts+lasts/5 {
					t.Errorf("standstills %+v, want one of %v", got, lasts)
				}
				checkEvent(t, record.Bytes(), lasts > 0)
			})
		})
	}
}

// checkEvent looks for the event of a standstill of the server.
func checkEvent(t *testing.T, file []byte, want bool) {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		found = found || ev.Op.Note == string(fault.ServerStandstill) && ev.Op.Client == standstill.RecordedAs
	}
	if found != want {
		t.Errorf("the event is there: %t, want %t", found, want)
	}
}
