package relay

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

const (
	// readLen is the most bytes that a stream reads at once.
	readLen = 32 << 10
	// waitingLen is the number of reads that wait for a bad network. A sender that is further ahead
	// has to wait, as it does for a full buffer of a real network.
	waitingLen = 64
	// pace is the time between two writes of a throttled stream that has bytes, and between two tries
	// to accept a client.
	pace = 10 * time.Millisecond
)

// A stream is one direction of a link. One goroutine reads it, and another writes what the first
// leaves to it.
type stream struct {
	relay    *Relay
	link     *link
	from, to net.Conn
	// next reads a message, or any bytes; pass passes it on, and reports whether the link still stands.
	next    func() ([]byte, error)
	pass    func(message []byte) bool
	chunks  chan chunk
	waiting atomic.Int64 // number of chunks that are not written yet
}

// A chunk is what was read at one time.
type chunk struct {
	bytes []byte
	at    time.Time
}

func newStream(r *Relay, l *link, from, to net.Conn) *stream {
	s := &stream{relay: r, link: l, from: from, to: to, chunks: make(chan chunk, waitingLen)}
	s.next, s.pass = s.any(), s.forward
	return s
}

// read reads the stream until its end. An error, or the end of the link, is the end of both streams.
func (s *stream) read() {
	defer close(s.chunks)
	pass := s.pass
	for {
		bytes, err := s.next()
		if err != nil {
			pass = s.forward // at the end they may be the beginning of a message
		}
		stands := len(bytes) == 0 || pass(bytes)
		if err == nil && stands {
			continue
		}
		if !stands || !errors.Is(err, io.EOF) {
			s.link.cut()
		}
		return
	}
}

// any returns a function that reads waiting bytes, some at least. They are valid until its next call.
func (s *stream) any() func() ([]byte, error) {
	buffer := make([]byte, readLen)
	return func() ([]byte, error) {
		n, err := s.from.Read(buffer)
		return buffer[:n], err
	}
}

// forward writes bytes, discards them or leaves them to the other goroutine, as the network demands.
// It reports whether the link still stands.
func (s *stream) forward(bytes []byte) bool {
	network := s.relay.network.Load()
	switch {
	case network.discards:
		return s.lose()
	case network.good() && s.waiting.Load() == 0:
		_, err := s.to.Write(bytes)
		return err == nil
	}
	s.waiting.Add(1)
	select {
	case s.chunks <- chunk{append([]byte(nil), bytes...), time.Now()}:
		return true
	case <-s.link.broken:
		return false
	}
}

// lose records that bytes were discarded. It reports whether the link still stands: the end of the
// fault may have missed this loss.
func (s *stream) lose() bool {
	s.link.lost.Store(true)
	return s.relay.network.Load().discards
}

// write writes chunks in order, and then the end of the stream.
func (s *stream) write() {
	for c := range s.chunks {
		if !s.writeChunk(c) {
			s.link.cut() // so that the other goroutine ends, too
			for range s.chunks {
			}
			return
		}
		s.waiting.Add(-1)
	}
	if half, can := s.to.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite() // the receiver may be gone
	}
}

// writeChunk writes c when the network lets it arrive. It reports whether the link still stands.
func (s *stream) writeChunk(c chunk) bool {
	for len(c.bytes) > 0 {
		network := s.relay.network.Load()
		if network.discards {
			return s.lose()
		}
		if late := network.delay - time.Since(c.at); late > 0 {
			if !s.wait(network, late) {
				return false
			}
			continue // the network may have changed
		}
		n := len(c.bytes)
		if network.rate > 0 {
			n = min(n, max(1, int(int64(network.rate)*int64(pace)/int64(time.Second))))
			if !s.wait(network, time.Duration(n)*time.Second/time.Duration(network.rate)) {
				return false
			}
		}
		if _, err := s.to.Write(c.bytes[:n]); err != nil {
			return false
		}
		c.bytes = c.bytes[n:]
	}
	return true
}

// wait waits for d, or until the network changes. It reports whether the link still stands.
func (s *stream) wait(n *network, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.over:
	case <-s.link.broken:
		return false
	}
	return true
}
