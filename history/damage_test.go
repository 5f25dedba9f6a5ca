package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// free is a lock that is always granted.
type free struct{}

func (free) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return free{}, nil
}
func (free) Release(context.Context) error { return nil }

// recorded returns the file of a small run with several sweeps, made in virtual
// time: 3 clients, one of them silent after the start.
func recorded(t testing.TB) []byte {
	t.Helper()
	var file bytes.Buffer
	readAll := func() {
		r, err := NewRecorder(&file, Header{Design: "free", Reacquire: "refused"})
		if err != nil {
			t.Fatal(err)
		}
		second := r.Client(2, 1)
		lockers := []lockbench.Locker{r.Client(1, 1).Locker(free{}), second.Locker(free{})}
		idle := r.Client(3, 2)
		renewed := func(time.Duration, error) {}
		for round := range 8 {
			switch round {
			case 2: // a renewal that takes several sweeps
				renewed = second.Renewing("k")
			case 6:
				renewed(time.Second, nil)
			}
			for _, l := range lockers {
				lease, _ := l.Acquire(context.Background(), "k", lockbench.Options{TTL: time.Second})
				time.Sleep(20 * time.Millisecond)
				_ = lease.Release(context.Background())
			}
		}
		idle.Event(Death, "", "")
		if err := r.Close(Trailer{EndNS: r.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if tt, ok := t.(*testing.T); ok {
		synctest.Test(tt, func(*testing.T) { readAll() })
	} else {
		readAll()
	}
	return file.Bytes()
}

// blocksOf returns the offsets at which the blocks of a file begin, and its end.
func blocksOf(t testing.TB, file []byte) []int {
	t.Helper()
	src, err := readNative(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	n := src.(*nativeReader)
	offsets := []int{len(magic) + 1}
	for {
		offsets = append(offsets, int(n.offset))
		f, err := n.block()
		if errors.Is(err, io.EOF) {
			return offsets
		}
		if err == nil {
			err = n.apply(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		n.next()
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	file := recorded(t)
	offsets := blocksOf(t, file)
	if len(offsets) < 8 {
		t.Fatalf("the file has %d blocks only, too few to test with", len(offsets))
	}
	for size := range len(file) {
		src, err := readNative(bytes.NewReader(file[:size]))
		if size < offsets[1] {
			if err == nil {
				t.Fatalf("cut at %d, inside the header, is read", size)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		events, err := gather(src)
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		if end := src.End(); !end.Partial || !strings.Contains(end.Why, "block ") {
			t.Fatalf("cut at %d: the end is %+v, want partial, naming the block", size, end)
		}
		checkCut(t, size, events, wholeOps(t, file, offsets, size))
	}
}

// wholeOps returns the operations in the blocks that are whole before size.
func wholeOps(t *testing.T, file []byte, offsets []int, size int) []*Op {
	t.Helper()
	var ops []*Op
	n := &nativeReader{owners: map[int32]owner{}, covered: map[int32]int64{}}
	for i := 1; i+1 < len(offsets) && offsets[i+1] <= size; i++ {
		n.in = bufio.NewReader(bytes.NewReader(file[offsets[i]:]))
		f, err := n.block()
		if err != nil {
			t.Fatal(err)
		}
		switch f.kind {
		case streamBlock:
			err = n.takeStream(f)
		case opsBlock:
			o := n.owners[f.stream]
			n.decoder.start(f.stream, o.client, o.process)
			err = n.decoder.ops(n.body.Bytes(), f.count, func(op *Op) error { ops = append(ops, op); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return ops
}

// checkCut: every call of a whole block up to its client's cut is there, each
// client has one cut, and nothing of it follows. Client 1 never has anything
// under way when it is swept, so its cut leaves nothing out.
func checkCut(t *testing.T, size int, events []Event, whole []*Op) {
	t.Helper()
	cuts, calls := map[int32]int64{}, 0
	for _, ev := range events {
		at, over := cuts[ev.Op.Client]
		switch {
		case over:
			t.Fatalf("cut at %d: client %d goes on after its record stopped at %d", size, ev.Op.Client, at)
		case ev.Phase == Cut:
			cuts[ev.Op.Client] = ev.Op.Call
		case ev.Phase == Call:
			calls++
		}
	}
	want := 0
	for _, op := range whole {
		if at, ok := cuts[op.Client]; !ok {
			t.Fatalf("cut at %d: the record of client %d does not stop", size, op.Client)
		} else if op.Call <= at || op.Client == 1 {
			want++
		}
	}
	if calls != want {
		t.Fatalf("cut at %d: %d calls are read, want the %d of whole blocks", size, calls, want)
	}
}

func TestFlippedAnywhere(t *testing.T) {
	file := recorded(t)
	src, _ := readNative(bytes.NewReader(file))
	want, err := gather(src)
	if err != nil {
		t.Fatal(err)
	}
	masks := []byte{0x01, 0x80, 0xff}
	for i := range file {
		for j := range longtest.Times(1, len(masks)) {
			mask := masks[(i+j)%len(masks)]
			bad := bytes.Clone(file)
			bad[i] ^= mask
			src, err := readNative(bytes.NewReader(bad))
			if err != nil {
				continue // told at once
			}
			got, err := gather(src)
			if err == nil && !src.End().Partial {
				t.Fatalf("byte %d flipped by %#x: nobody notices", i, mask)
			}
			if err != nil && !(strings.Contains(err.Error(), "block ") && strings.Contains(err.Error(), "offset ")) {
				t.Fatalf("byte %d flipped by %#x: %v does not name the block", i, mask, err)
			}
			sound(t, got, want)
		}
	}
}

// sound checks that all events read from a damaged file are in the whole one.
func sound(t *testing.T, got, want []Event) {
	t.Helper()
	known := map[string]bool{}
	for _, ev := range want {
		known[show(ev)] = true
	}
	for _, ev := range got {
		if ev.Phase != Cut && !known[show(ev)] {
			t.Fatalf("an event that never was: %s", show(ev))
		}
	}
}

// A partial history stays the same partial history in every form.
func TestPartialRoundTrip(t *testing.T) {
	file := recorded(t)
	offsets := blocksOf(t, file)
	for _, size := range offsets[2 : len(offsets)-1] {
		open := func() Source {
			src, err := NewSource(bytes.NewReader(file[:size]))
			if err != nil {
				t.Fatal(err)
			}
			return src
		}
		want := &listed{header: open().Header()}
		src := open()
		want.events, _ = gather(src)
		want.end = src.End()
		same(t, "JSON Lines", through(t, open(), toJSONL), want)
		same(t, "native", through(t, through(t, open(), toJSONL), toNative), want)
	}
}

// JSON Lines that were cut short are partial, and a torn line is no error in them.
func TestTruncatedJSONL(t *testing.T) {
	src, _ := NewSource(bytes.NewReader(recorded(t)))
	var text bytes.Buffer
	if err := WriteJSONL(&text, src); err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(text.Bytes(), '\n')
	for size := header + 1 + len(`{"epoch_ns":0}`); size < text.Len()-1; size += 7 {
		src, err := readJSONL(bytes.NewReader(text.Bytes()[:size]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gather(src); err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		if end := src.End(); !end.Partial || !strings.Contains(end.Why, "line ") {
			t.Fatalf("cut at %d: the end is %+v, want partial, naming the line", size, end)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	newer := append([]byte(magic), formatVersion+1)
	tests := []struct {
		name, content, want string
	}{
		{"empty", "", "it is empty"},
		{"random", "\x00\x17\xfe\x80 nonsense", "it is no history"},
		{"text", "time,client,op\n1,2,3\n", "it is no history"},
		{"newer file", string(newer), "hint: use a newer lockbench"},
		{"newer schema", `{"schema":"lockbench/history/v3","design":"x"}`, "hint: use a newer lockbench"},
		{"another schema", `{"schema":"something/v1","design":"x"}`, "hint: is this a lockbench history?"},
		{"only magic", magic, "was it transferred as text"},
		{"no header", string(append([]byte(magic), formatVersion)), "block 1 (offset 8), the header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.lbh")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open returned %v, want an error with the path and %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory; hint:") {
		t.Errorf("Open of a directory returned %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file returned %v", err)
	}
}

func TestOpenTellsFormats(t *testing.T) {
	file := recorded(t)
	src, _ := NewSource(bytes.NewReader(file))
	var lines bytes.Buffer
	if err := WriteJSONL(&lines, src); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, content, design string }{
		{"native", string(file), "free"},
		{"json lines", lines.String(), "free"},
		{"edn", "; jepsen\n{:process 0, :type :invoke, :f :acquire, :time 1}", "edn"},
		{"edn vector", "[{:process 0, :type :invoke, :f :acquire, :time 1}]", "edn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			src, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(src.Header().Design, tt.design); diff != "" {
				t.Errorf("design (-got +want):\n%s", diff)
			}
			if events, err := gather(src); err != nil || len(events) == 0 {
				t.Errorf("%d events, error %v", len(events), err)
			}
			if err := src.(io.Closer).Close(); err != nil {
				t.Errorf("closing after the end: %v", err)
			}
			if _, err := gather(src); err == nil {
				t.Error("the events can be read twice")
			}
		})
	}
}
