package history

// A stream is the record of one client in the file of a Recorder. Operations are
// packed on the client's own path: some ten bytes each stay in the nearest cache,
// where an Op, twenty times as long, would not.
type stream struct {
	Client
	rec                 *Recorder
	id, process, number int32

	// Under the client's mutex:
	encoder encoder
	batch   *batch   // being filled; nil when there is no more to come
	full    []*batch // waiting for the writer
	free    []*Op    // not in use

	covered int64 // watermark of the last block written; the writer's own
}

func (s *stream) open() *Op {
	var op *Op
	if last := len(s.free) - 1; last >= 0 {
		op = s.free[last]
		s.free = s.free[:last]
	} else {
		op = new(Op)
	}
	*op = Op{Client: s.id, Process: s.process, Stream: s.number, Attempt: NoStamp, Return: Never}
	return op
}

func (s *stream) called(op *Op) { op.Call = s.now() }

func (s *stream) calledAt(op *Op, at int64) { op.Call = max(at, s.holdBackFrom) }

func (s *stream) ended(op *Op) {
	s.free = append(s.free, op)
	if s.rec.failed() {
		return
	}
	s.encoder.op(s.batch, op)
	if s.batch.full() {
		n := s.batch.count
		s.full = append(s.full, s.batch)
		s.startBatch()
		s.rec.wake(s, n)
	}
}

// startBatch goes on with an empty batch. s.mu is held.
func (s *stream) startBatch() {
	s.batch = s.rec.emptyBatch()
	s.encoder.start(s.number, s.id, s.process)
}

// take hands over what was recorded, with the stamp below which nothing of this
// client is missing, and goes on with an empty batch.
func (s *stream) take() (batches []*batch, watermark int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	watermark = s.now()
	if s.holdingBack {
		watermark = min(watermark, s.holdBackFrom)
	}
	for _, op := range s.pending {
		watermark = min(watermark, op.Call)
	}
	for _, r := range s.reported {
		watermark = min(watermark, r.since)
	}
	return s.takeBatches(), watermark
}

// takeBatches empties the stream. s.mu is held.
func (s *stream) takeBatches() []*batch {
	batches := s.full
	s.full = nil
	switch {
	case s.batch == nil:
	case s.batch.count > 0:
		batches = append(batches, s.batch)
		s.batch = nil
		if !s.sealed {
			s.startBatch()
		}
	case s.sealed:
		s.batch = nil
	}
	return batches
}

// close ends the client's record and hands over the last of it.
func (s *stream) close() []*batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal()
	return s.takeBatches()
}

// done reports whether the client's record has ended and all of it was handed over.
func (s *stream) done() bool {
	s.mu.Lock()
	over := s.sealed && s.batch == nil && len(s.full) == 0
	s.mu.Unlock()
	if over {
		s.watchers.Wait() // they were told to end when the record did
	}
	return over
}
