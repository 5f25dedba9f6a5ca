package history

// A stream is the record of one client in the file of a Recorder.
type stream struct {
	Client
	rec                 *Recorder
	id, process, number int32

	// Under the client's mutex:
	full [][]Op // buffers of blockOps operations each
	buf  []Op
	free []*Op // not in use

	covered int64 // watermark of the last block written; the writer's own
}

func (s *stream) open() *Op {
	if last := len(s.free) - 1; last >= 0 {
		op := s.free[last]
		s.free = s.free[:last]
		*op = s.blank()
		return op
	}
	op := s.blank()
	return &op
}

func (s *stream) blank() Op {
	return Op{Client: s.id, Process: s.process, Stream: s.number, Attempt: NoStamp, Return: Never}
}

func (s *stream) called(op *Op) { op.Call = s.now() }

func (s *stream) ended(op *Op) {
	s.free = append(s.free, op)
	if s.rec.failed() {
		return
	}
	s.buf = append(s.buf, *op)
	if len(s.buf) == blockOps {
		s.full = append(s.full, s.buf)
		s.buf = s.rec.spare()
		s.rec.wake(s)
	}
}

// take hands over what was recorded, with the stamp below which nothing of this
// client is missing, and goes on with an empty buffer.
func (s *stream) take() (buffers [][]Op, watermark int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	watermark = s.now()
	for _, op := range s.pending {
		watermark = min(watermark, op.Call)
	}
	return s.handOver(), watermark
}

// handOver empties the buffers. s.mu is held.
func (s *stream) handOver() [][]Op {
	buffers := s.full
	s.full = nil
	if len(s.buf) > 0 {
		buffers = append(buffers, s.buf)
		s.buf = s.rec.spare()
	}
	return buffers
}

// close ends the client's record and hands over the last of it.
func (s *stream) close() [][]Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal()
	return s.handOver()
}
