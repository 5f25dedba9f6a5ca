package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"olympos.io/encoding/edn"
)

// readEDN reads a Jepsen history: EDN maps, one after another or in one vector.
//
//	{:index 0 :process 0 :type :invoke :f :acquire :value {:key "a" :ttl-ms 2000} :time 1000}
//	{:index 1 :process 0 :type :ok     :f :acquire :value {:key "a" :fence 7}     :time 5000}
//
// The functions are :acquire (or :lock), :release (or :unlock) and :extend. The
// value of the invocation is the key, a map with :key, :ttl-ms and :wait-ms, or
// a tuple [key value]; nil is the key "lock". Without :ttl-ms the lock has no
// lease. The completion's value may be a map with :fence, and with :ttl-ms where
// another lease was granted. An acquire without :wait-ms did not wait: its call is
// the start of its validity.
//
// What is said by :type: :ok is ok; :fail of an acquire is refused; :fail of
// another operation is failed, but lost when its :error speaks of not being the
// owner or holder; :info, or no completion, is unknown and never returned, and
// the process is another client from then on. Processes that are no number
// (:nemesis) give fault events. :time is ns; where an operation has none, :index
// orders all, or else the place in the file.
//
// The file is read whole by Events. An error names its line; what came before it
// is delivered as a partial history.
func readEDN(r io.Reader) (Source, error) {
	h := assumed()
	h.Schema, h.Design, h.Workload = Schema, "edn", "jepsen"
	s := &ednSource{forms: formReader{in: bufio.NewReaderSize(r, 64<<10)}}
	s.sourceBase = sourceBase{header: h, events: s.each}
	return s, nil
}

type ednSource struct {
	sourceBase
	forms formReader
}

func (s *ednSource) each(yield func(Event, error) bool) {
	pairing := pairing{open: map[int64]*Op{}, clients: map[int64]int32{}, next: 1 << 30}
	err := s.pair(&pairing)
	if untimed := pairing.settleTimes(); err == nil {
		err = untimed
	}
	nameHolds(pairing.ops, "")
	var merger merger
	for _, op := range pairing.ops {
		_ = merger.add(op) // nothing was passed on yet that it could be too late for
	}
	s.end.Trailer = assumedTrailer(pairing.ops)
	if err != nil {
		err = fmt.Errorf("history: line %d: %w; hint: only what comes before it can be judged", max(s.forms.start, 1), err)
		s.end = End{Partial: true, Why: strings.TrimPrefix(err.Error(), "history: ")}
		at := pairing.latest
		merger.cutAll(func(int32) int64 { return at })
	}
	if merger.passAll(yield) && err != nil {
		yield(Event{}, err)
	}
}

func (s *ednSource) pair(p *pairing) error {
	for {
		s.forms.start = s.forms.line
		text, err := s.forms.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var form map[edn.Keyword]any
		if err := edn.UnmarshalString(text, &form); err != nil {
			return err
		}
		if err := p.take(form); err != nil {
			return err
		}
	}
}

// A pairing makes operations of invocations and their completions.
type pairing struct {
	ops     []*Op
	open    map[int64]*Op   // by process
	clients map[int64]int32 // by process; removed when an outcome is unknown
	used    map[int32]bool  // clients that exist
	next    int32           // the next client for a process after an unknown outcome
	count   uint64          // maps read so far: orders them, and is the time of a map without :time
	noTime  int             // maps without :time
	latest  int64
	indexed []int64 // of each map: its :index, or its place in the file
}

func (p *pairing) take(form map[edn.Keyword]any) error {
	p.count++
	at, timed := number(form["time"])
	if !timed {
		p.noTime++
	}
	index, ok := number(form["index"])
	if !ok {
		index = int64(p.count) - 1
	}
	if at < 0 || index < 0 || at == math.MaxInt64 {
		return fmt.Errorf(":time %d or :index %d is out of range", at, index)
	}
	p.indexed = append(p.indexed, index)
	p.latest = max(p.latest, at)
	process, ok := number(form["process"])
	if !ok {
		p.fault(form, at)
		return nil
	}
	if process < 0 || process >= 1<<30 {
		return fmt.Errorf(":process %d is out of range", process)
	}
	switch kind, _ := form["type"].(edn.Keyword); kind {
	case "invoke":
		return p.invoke(process, at, form)
	case "ok", "fail", "info":
		return p.complete(process, at, kind, form)
	}
	return fmt.Errorf(":type %v is not one of :invoke :ok :fail :info", form["type"])
}

// fault records an event of a process that is no client.
func (p *pairing) fault(form map[edn.Keyword]any, at int64) {
	op := &Op{
		Kind: Fault, Outcome: OK, Client: -1, Process: -1, Stream: -1, Attempt: NoStamp,
		Call: at, Return: at, CallSeq: p.count, ReturnSeq: p.count, Note: scalar(form["f"]),
	}
	p.ops = append(p.ops, op)
}

func (p *pairing) invoke(process, at int64, form map[edn.Keyword]any) error {
	if p.open[process] != nil {
		p.forget(process)
	}
	kind, err := function(form["f"])
	if err != nil {
		return err
	}
	client := p.client(process)
	op := &Op{
		Kind: kind, Client: client, Process: int32(process), Stream: client, Attempt: NoStamp,
		Call: at, Return: Never, CallSeq: p.count, Key: "lock",
	}
	if err := describe(op, form["value"]); err != nil {
		return err
	}
	if kind == Extend && op.Asked == 0 {
		return errors.New("the :extend has no :ttl-ms")
	}
	anchorAttempt(op)
	p.open[process] = op
	p.ops = append(p.ops, op)
	return nil
}

// client returns the client that a process is at present.
func (p *pairing) client(process int64) int32 {
	if client, ok := p.clients[process]; ok {
		return client
	}
	if p.used == nil {
		p.used = map[int32]bool{}
	}
	client := int32(process)
	if p.used[client] {
		client = p.next
		p.next++
	}
	p.used[client] = true
	p.clients[process] = client
	return client
}

// forget makes the process a new client from its next operation on: the last operation of the old
// one may still take effect.
func (p *pairing) forget(process int64) {
	delete(p.open, process)
	delete(p.clients, process)
}

func (p *pairing) complete(process, at int64, kind edn.Keyword, form map[edn.Keyword]any) error {
	op := p.open[process]
	if op == nil {
		return fmt.Errorf("process %d completes an operation that it never invoked", process)
	}
	if f, err := function(form["f"]); err != nil || f != op.Kind {
		return fmt.Errorf("process %d completes %v, but invoked a %s", process, form["f"], op.Kind)
	}
	if at < op.Call {
		return fmt.Errorf("process %d completes at %d ns what it invoked at %d ns", process, at, op.Call)
	}
	if kind == "info" {
		op.Note = noteOf(form["error"])
		p.forget(process)
		return nil
	}
	delete(p.open, process)
	op.Return, op.ReturnSeq = at, p.count
	op.Outcome = OK
	if kind == "fail" {
		op.Note = noteOf(form["error"])
		op.Outcome = failure(op.Kind, op.Note)
		return nil
	}
	return granted(op, form["value"])
}

// settleTimes orders all operations by index, or by their place in the file, if any of them has no
// time.
func (p *pairing) settleTimes() error {
	if p.noTime == 0 {
		return nil
	}
	p.latest = 0
	for _, op := range p.ops {
		op.Call = p.indexed[op.CallSeq-1]
		if op.Return != Never {
			op.Return = p.indexed[max(op.ReturnSeq, op.CallSeq)-1]
		}
		if op.Attempt != NoStamp {
			op.Attempt = op.Call
		}
		p.latest = max(p.latest, op.lastStamp())
		if err := op.check(); err != nil {
			return fmt.Errorf("by :index: %w", err)
		}
	}
	return nil
}
