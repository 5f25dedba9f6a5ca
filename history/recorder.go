package history

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pace is how a recorder keeps up with its clients.
type pace struct {
	sweep time.Duration
	// backlog is the number of operations that may wait for the writer. Beyond it recording
	// ends: clients never wait, and memory stays bounded.
	backlog int64
}

var usualPace = pace{sweep: 100 * time.Millisecond, backlog: 1 << 20}

// A Recorder writes the history of one run. Clients pack their operations into
// buffers of their own; a goroutine of the recorder writes these, every 100 ms and
// whenever one is full. After a kill at most the last 100 ms are missing.
//
// A write that fails ends the recording, not the run: see [Recorder.Err]. All
// methods are safe for concurrent use.
type Recorder struct {
	base        time.Time
	pace        pace
	reacquire   string
	sample      float64 // of keys, for a service
	owners      owners
	quit        chan struct{} // closed by Close
	done        chan struct{} // closed by the writer
	fullStreams chan *stream  // streams with a full batch
	freeBatches chan *batch   // empty, to be used again
	backlog     atomic.Int64
	broken      atomic.Bool

	closing sync.Once
	notes   notes

	streamList
	output
}

// streamList is the streams of a recorder and its end. mu guards the other fields.
type streamList struct {
	mu      sync.Mutex
	streams []*stream // streams that may still have operations to write
	made    int32     // streams so far
	closed  bool
	err     error
}

// output is the file of a recorder. The writer alone uses it, and Close once the writer has ended.
type output struct {
	buffered  *bufio.Writer
	out       blockWriter
	words     stringTable
	payload   []byte
	announced int // streams with a written opening block
	ops       int64
}

// NewRecorder begins a history on w: it fills in h's Schema, and Started when it
// is empty, writes the header and starts the clock. The caller keeps w open until
// [Recorder.Close] has returned, and closes it.
func NewRecorder(w io.Writer, h Header) (*Recorder, error) {
	return newRecorder(w, h, usualPace)
}

func newRecorder(w io.Writer, h Header, p pace) (*Recorder, error) {
	r := &Recorder{
		base:        time.Now(),
		pace:        p,
		reacquire:   h.Reacquire,
		sample:      h.Sample,
		quit:        make(chan struct{}),
		done:        make(chan struct{}),
		fullStreams: make(chan *stream, 256),
		freeBatches: make(chan *batch, 256),
		output:      output{buffered: bufio.NewWriterSize(w, 256<<10)},
	}
	r.out.w = r.buffered
	h.Schema = Schema
	if h.Started == "" {
		h.Started = r.base.UTC().Format(time.RFC3339Nano)
	}
	if err := r.out.open(h); err != nil {
		return nil, err
	}
	if err := r.buffered.Flush(); err != nil {
		return nil, fmt.Errorf("history: write the header: %w; hint: is there space left?", err)
	}
	go r.write()
	return r, nil
}

// open begins a native file.
func (b *blockWriter) open(h Header) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("history: encode the header: %w; hint: params must be plain data", err)
	}
	if len(text) > maxPayload {
		return fmt.Errorf("history: the header has %d bytes, at most %d fit; hint: shorten the params", len(text), maxPayload)
	}
	_, b.err = b.w.Write(append([]byte(magic), formatVersion))
	b.write(frame{kind: headerBlock}, text)
	return b.err
}

// Now returns the time since the start of the run, in ns, on the monotonic clock.
func (r *Recorder) Now() int64 { return int64(time.Since(r.base)) }

// Base returns the instant of stamp zero, with its monotonic reading.
func (r *Recorder) Base() time.Time { return r.base }

// Err returns the error that ended the recording, nil while all is well.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) failed() bool { return r.broken.Load() }

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.broken.Store(true)
}

// Client begins the record of one owner that lives in process. The id must be
// one that no other client of the recorder has. A client made after Close records
// nothing.
func (r *Recorder) Client(id, process int32) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &stream{rec: r, id: id, process: process, number: r.made}
	s.base, s.track, s.notes, s.sealed = r.base, s, &r.notes, r.closed
	s.startBatch()
	s.holds = holds{client: id, reacquire: r.reacquire}
	r.made++
	if !r.closed {
		s.covered = r.Now()
		r.streams = append(r.streams, s)
	}
	return &s.Client
}

// wake notifies the writer of a full batch of n operations. It never waits: the writer's next sweep
// finds a batch without a notice.
func (r *Recorder) wake(s *stream, n int) {
	if r.backlog.Add(int64(n)) > r.pace.backlog {
		r.fail(fmt.Errorf("history: the writer fell %d operations behind; hint: record to a faster disk", r.pace.backlog))
		return
	}
	select {
	case r.fullStreams <- s:
	default:
	}
}

// write is the recorder's goroutine; Close waits for it.
func (r *Recorder) write() {
	defer close(r.done)
	tick := time.NewTicker(r.pace.sweep)
	defer tick.Stop()
	for {
		select {
		case s := <-r.fullStreams:
			r.drain(s)
		case <-tick.C:
			r.sweep()
		case <-r.quit:
			return
		}
	}
}

// sweep writes the operations of every client, and then an epoch. A client that
// registers during the sweep begins after the epoch's stamp, since both take r.mu.
func (r *Recorder) sweep() {
	r.mu.Lock()
	streams, epoch := r.streams, r.Now()
	r.mu.Unlock()
	for _, s := range streams {
		epoch = min(epoch, r.drain(s))
	}
	r.emit(frame{kind: epochBlock, watermark: epoch}, nil)
	r.flush()
	r.dropDead()
}

// dropDead drops the streams of dead clients that are written completely.
func (r *Recorder) dropDead() {
	r.mu.Lock()
	known := r.streams[:r.announced]
	r.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(known), (*stream).done)
	if len(left) == len(known) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams = append(left, r.streams[r.announced:]...)
	r.announced = len(left)
}

// drain writes the operations of one client, and returns its watermark.
func (r *Recorder) drain(s *stream) (watermark int64) {
	batches, watermark := s.take()
	r.put(s, batches, watermark)
	for _, b := range batches {
		if b.full() {
			r.backlog.Add(int64(-b.count))
		}
		b.reset()
		select {
		case r.freeBatches <- b:
		default:
		}
	}
	return watermark
}

// emptyBatch returns an empty batch, a used one if there is one.
func (r *Recorder) emptyBatch() *batch {
	select {
	case b := <-r.freeBatches:
		return b
	default:
		return new(batch)
	}
}

// emit writes a block unless recording has failed. The failure is set before the
// first operation is dropped, so no watermark is written that would cover one.
func (r *Recorder) emit(f frame, payload []byte) {
	if !r.failed() {
		r.out.write(f, payload)
	}
}

// put writes batches as blocks. The stream's new watermark stands on the last of
// them only: before it, not everything up to the watermark is in.
func (r *Recorder) put(s *stream, batches []*batch, watermark int64) {
	if len(batches) == 0 {
		return
	}
	r.announce()
	for i, b := range batches {
		r.ops += int64(b.count)
		if i == len(batches)-1 {
			s.covered = watermark
		}
		r.payload = r.words.appendPayload(r.payload[:0], b)
		r.emit(frame{opsBlock, s.number, b.count, s.covered}, r.payload)
	}
}

// announce writes the streams that opened since the last block, so that the reader knows every
// client before an operation that may have met it.
func (r *Recorder) announce() {
	r.mu.Lock()
	opened := r.streams[r.announced:]
	r.announced = len(r.streams)
	r.mu.Unlock()
	for _, s := range opened {
		owner := binary.AppendVarint(nil, int64(s.id))
		owner = binary.AppendVarint(owner, int64(s.process))
		r.emit(frame{kind: streamBlock, stream: s.number, watermark: s.covered}, owner)
	}
}

// flush writes everything to the file, and keeps the error.
func (r *Recorder) flush() {
	err := r.out.err
	if err == nil {
		err = r.buffered.Flush()
	}
	if err != nil {
		r.fail(fmt.Errorf("history: write block %d: %w; hint: is there space left where the history goes?", r.out.blocks, err))
	}
}

// Close ends the record: operations under way are written as unknown ones that
// never returned, then the trailer with Ops filled in. It waits for the
// recorder's goroutines, and returns the recording's error. Later operations are
// dropped. The writer given to NewRecorder stays open.
func (r *Recorder) Close(t Trailer) error {
	r.closing.Do(func() { r.finish(t) })
	return r.Err()
}

func (r *Recorder) finish(t Trailer) {
	r.mu.Lock()
	streams := r.streams
	r.closed = true
	r.mu.Unlock()
	close(r.quit)
	<-r.done
	for _, s := range streams {
		batches := s.close()
		s.watchers.Wait()
		r.put(s, batches, r.Now())
	}
	t.Ops = r.ops
	text, err := marshalEnd(End{Trailer: t})
	if err != nil {
		r.fail(err)
		return
	}
	r.emit(frame{kind: endBlock}, text)
	r.flush()
}
