package synthetic

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// generated returns the history that c makes, as a file, and its violations.
func generated(t testing.TB, c Config, begin Begin) ([]byte, []Violation) {
	t.Helper()
	var file bytes.Buffer
	planted, err := Write(&file, c, begin)
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), planted
}

// with is the usual Config with changes.
func with(change func(*Config)) Config {
	c := Usual()
	c.Ops, c.Violations, c.Seed = int64(longtest.Times(12_000, 60_000)), 3, 5
	change(&c)
	return c
}

// TestGenerate reads generated histories back: the requested number of operations,
// each client's one after the other, all kinds and outcomes, the same in both formats.
func TestGenerate(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		kinds  int
	}{
		{"usual", with(func(*Config) {}), 5},
		{"unknown outcomes", with(func(c *Config) { c.Unknown = 0.3 }), 8},
		{"few keys", with(func(c *Config) { c.Keys = 2 }), 5},
		{"many clients and short leases", with(func(c *Config) { c.Clients, c.TTL = 500, minTTL }), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, planted := generated(t, c.config, history.NewWriter)
			again, _ := generated(t, c.config, history.NewWriter)
			if !bytes.Equal(file, again) {
				t.Error("equal Configs made different files")
			}
			if len(planted) != 3 {
				t.Errorf("planted %d violations, want 3", len(planted))
			}
			ops := read(t, file)
			checkOps(t, c.config, ops, c.kinds)
			lines, _ := generated(t, c.config, history.NewJSONLWriter)
			if diff := cmp.Diff(len(read(t, lines)), len(ops)); diff != "" {
				t.Errorf("operations in JSON Lines and in the native format:\n%s", diff)
			}
		})
	}
}

// read returns the operations of a file.
func read(t *testing.T, file []byte) (ops []*history.Op) {
	t.Helper()
	if end := each(t, file, func(op *history.Op) { ops = append(ops, op) }); end.Partial {
		t.Error("the history is partial")
	}
	return ops
}

// each has take see the operations of a file, and returns its end.
func each(t testing.TB, file []byte, take func(*history.Op)) history.End {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Phase == history.Call {
			take(ev.Op)
		}
	}
	return src.End()
}

func checkOps(t *testing.T, c Config, ops []*history.Op, kinds int) {
	t.Helper()
	if int64(len(ops)) != c.Ops {
		t.Errorf("got %d operations, want %d", len(ops), c.Ops)
	}
	type what struct {
		kind    history.Kind
		outcome history.Outcome
	}
	seen, last := map[what]int{}, map[int32]int64{}
	unknown := 0
	for _, op := range ops {
		seen[what{op.Kind, op.Outcome}]++
		if op.Outcome == history.Unknown {
			unknown++
		}
		if op.Call < last[op.Client] {
			t.Fatalf("client %d calls at %d, before its call before returned at %d", op.Client, op.Call, last[op.Client])
		}
		last[op.Client] = op.Return
	}
	if len(seen) < kinds {
		t.Errorf("got %d kinds of answers, want %d: %v", len(seen), kinds, seen)
	}
	if share := float64(unknown) / float64(len(ops)); share < c.Unknown*0.9 || share > c.Unknown*1.1 {
		t.Errorf("the share of unknown outcomes is %v, want %v", share, c.Unknown)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		want   string
		config Config
	}{
		{"0 operations", with(func(c *Config) { c.Ops = 0 })},
		{"3 violations do not fit into 100", with(func(c *Config) { c.Ops = 100 })},
		{"one client cannot exclude itself", with(func(c *Config) { c.Clients = 1 })},
		{"0 clients", with(func(c *Config) { c.Clients = 0 })},
		{"0 keys", with(func(c *Config) { c.Keys = 0 })},
		{"1.5 is no share", with(func(c *Config) { c.Unknown = 1.5 })},
		{"a lease of 1ms", with(func(c *Config) { c.TTL = time.Millisecond })},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, _, err := Generate(c.config, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; hint: ") {
				t.Errorf("got %v, want an error with %q and a hint", err, c.want)
			}
		})
	}
}

// TestMemoryIsFlat compares the memory in use after short and long histories.
func TestMemoryIsFlat(t *testing.T) {
	used := func(ops int64) uint64 {
		w, err := history.NewWriter(io.Discard, history.Header{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Generate(with(func(c *Config) { c.Ops = ops }), w); err != nil {
			t.Fatal(err)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(w)
		return m.HeapAlloc
	}
	short, long := used(20_000), used(400_000)
	if long > short+1<<20 {
		t.Errorf("%d bytes in use after 400,000 operations, %d after 20,000", long, short)
	}
}

// BenchmarkGenerate measures one operation, made up and written.
func BenchmarkGenerate(b *testing.B) {
	w, err := history.NewWriter(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	if _, _, err := Generate(with(func(c *Config) { c.Ops, c.Violations = int64(b.N), 0 }), w); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead measures one operation, decoded and put in order: its call and return.
func BenchmarkRead(b *testing.B) {
	for _, unknown := range []float64{0, 0.3} {
		b.Run(fmt.Sprint("unknown=", unknown), func(b *testing.B) {
			c := with(func(c *Config) { c.Ops, c.Violations, c.Unknown = 300_000, 0, unknown })
			file, _ := generated(b, c, history.NewWriter)
			b.ReportAllocs()
			for left := 0; b.Loop(); {
				if left == 0 {
					each(b, file, func(*history.Op) { left++ })
				}
				left-- // one operation of those read
			}
		})
	}
}
