package history

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// Many clients with renewals in the background, under sweeps every millisecond: the
// reader refuses an operation from before a written epoch, so an epoch that
// promised too much fails the test.
func TestManyClients(t *testing.T) {
	const clients, rounds = 64, 150
	var file bytes.Buffer
	r, err := newRecorder(&file, Header{Reacquire: "refused"}, pace{time.Millisecond, 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for id := range int32(clients) {
		wg.Go(func() { busy(r.Client(id, id/8), rounds) })
	}
	wg.Wait()
	if err := r.Close(Trailer{EndNS: r.Now()}); err != nil {
		t.Fatal(err)
	}
	src, err := readNative(&file)
	if err != nil {
		t.Fatal(err)
	}
	events, err := gather(src)
	if err != nil {
		t.Fatal(err)
	}
	perClient := map[int32]map[Kind]int{}
	for _, ev := range events {
		if perClient[ev.Op.Client] == nil {
			perClient[ev.Op.Client] = map[Kind]int{}
		}
		if ev.Phase == Call {
			perClient[ev.Op.Client][ev.Op.Kind]++
		}
	}
	want := map[Kind]int{Acquire: rounds, Release: rounds, Renew: rounds, Pause: rounds}
	for id := range int32(clients) {
		if diff := cmp.Diff(perClient[id], want); diff != "" {
			t.Fatalf("client %d's operations (-got +want):\n%s", id, diff)
		}
	}
	if got := src.End().Trailer.Ops; src.End().Partial || got != clients*rounds*4 {
		t.Errorf("the end is %+v, want %d operations", src.End(), clients*rounds*4)
	}
}

// busy locks, unlocks, renews in the background and notes events.
func busy(c *Client, rounds int) {
	locker := c.Locker(free{})
	var renewals sync.WaitGroup
	defer renewals.Wait()
	for range rounds {
		lease, _ := locker.Acquire(context.Background(), "k", lockbench.Options{TTL: time.Second})
		renewals.Go(func() {
			done := c.Renewing("k")
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			done(time.Second, nil)
		})
		c.Event(Pause, "", "test")
		_ = lease.Release(context.Background())
	}
}

// stalled is a disk that does not answer.
type stalled struct {
	goOn    chan struct{}
	content bytes.Buffer
}

func (s *stalled) Write(b []byte) (int, error) {
	if s.content.Len() > 0 { // the header goes through
		<-s.goOn
	}
	return s.content.Write(b)
}

// A disk that hangs must neither delay clients nor fill the memory, and a history
// with dropped events must not look complete.
func TestStalledDisk(t *testing.T) {
	disk := &stalled{goOn: make(chan struct{})}
	r, err := newRecorder(disk, Header{}, pace{time.Millisecond, 8 * blockOps})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Client(1, 1)
	for range 1000 * blockOps {
		c.Event(Pause, "", "")
	}
	if r.Err() == nil {
		t.Error("the writer is far behind, and Err returns nothing")
	}
	close(disk.goOn)
	if err := r.Close(Trailer{}); err == nil {
		t.Error("Close returned no error although operations were dropped")
	}
	src, err := readNative(&disk.content)
	if err != nil {
		t.Fatal(err)
	}
	if events, err := gather(src); err != nil || !src.End().Partial {
		t.Errorf("%d events, error %v, end %+v; want a partial history", len(events), err, src.End())
	}
}

func sampleOps(n int) []Op {
	ops := make([]Op, n)
	r := rand.New(rand.NewPCG(1, 2))
	at := int64(1e9)
	for i := range ops {
		at += r.Int64N(200_000)
		hold := int64(1)<<32 | int64(i/2+1)
		ops[i] = Op{Kind: Acquire, Outcome: OK, Key: "key", Hold: hold, Call: at, Return: at + 80_000 + r.Int64N(50_000),
			Attempt: at + 200, Attempts: 1, Asked: 2e9, Granted: 2e9}
		if i%2 == 1 {
			ops[i] = Op{Kind: Release, Outcome: OK, Key: "key", Hold: hold, Call: at, Return: at + 80_000, Attempt: NoStamp}
		}
	}
	return ops
}

// pack makes a block's payload, the first of a file.
func pack(ops []Op) []byte {
	var e encoder
	var packed batch
	for i := range ops {
		e.op(&packed, &ops[i])
	}
	return new(stringTable).appendPayload(nil, &packed)
}

func BenchmarkEncode(b *testing.B) {
	ops, words := sampleOps(blockOps), stringTable{}
	out := blockWriter{w: io.Discard}
	var e encoder
	var packed batch
	var payload []byte
	var size int
	b.ReportAllocs()
	for b.Loop() {
		e.start(0, 0, 0)
		packed.reset()
		for i := range ops {
			e.op(&packed, &ops[i])
		}
		payload = words.appendPayload(payload[:0], &packed)
		out.write(frame{kind: opsBlock, count: len(ops)}, payload)
		size = len(out.frame)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ops)), "ns/operation")
	b.ReportMetric(float64(size)/float64(len(ops)), "bytes/operation")
}

func BenchmarkDecode(b *testing.B) {
	ops := sampleOps(blockOps)
	payload := pack(ops)
	d := decoder{strings: []string{"key"}}
	add := func(*Op) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		d.start(0, 0, 0)
		d.strings = d.strings[:0]
		if err := d.ops(payload, len(ops), add); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ops)), "ns/operation")
}

// BenchmarkEvents reads a file of 64 streams, with blocks as the sweeps leave them.
func BenchmarkEvents(b *testing.B) {
	const streams, rounds = 64, 20
	var file bytes.Buffer
	out := blockWriter{w: &file}
	if err := out.open(Header{Schema: Schema}); err != nil {
		b.Fatal(err)
	}
	words, ops := stringTable{}, sampleOps(streams*rounds*200)
	for i := range rounds {
		for stream := range int32(streams) {
			e := encoder{previousOp{client: stream, stream: stream}}
			var packed batch
			for k := range 200 {
				e.op(&packed, withOwner(ops[(i*200+k)*streams+int(stream)], stream))
			}
			out.write(frame{opsBlock, stream, 200, 0}, words.appendPayload(nil, &packed))
		}
		out.write(frame{kind: epochBlock, watermark: ops[min(len(ops)-1, (i+1)*200*streams)].Call}, nil)
	}
	out.write(frame{kind: endBlock}, []byte("{}"))
	for b.Loop() {
		src, err := readNative(bytes.NewReader(file.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range src.Events() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 2*len(ops) {
			b.Fatalf("%d events of %d operations", n, len(ops))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ops)), "ns/operation")
}

func withOwner(op Op, stream int32) *Op {
	op.Client, op.Stream = stream, stream
	return &op
}
