// Package spool keeps a file that is read while it is written.
package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const (
	// partSize is the length of a part that is removed once it is read.
	partSize = 16 << 20
	// maxBehind is the largest number of bytes in such parts that wait for the reader.
	maxBehind = 4 << 30
)

// A Spool is a file that is read while it is written. The file is the buffer between the
// two, so the writer never waits for the reader, and unread data does not take up memory.
//
// A spool that keeps everything is one file. A spool that keeps only its beginning has
// the rest in further files beside it, each removed once it is read, so that a run of any
// length needs as little room as a short one.
//
// One goroutine may write and another read.
type Spool struct {
	path string
	keep int64 // bytes to be kept; zero keeps all

	mu    sync.Mutex
	grown sync.Cond
	out   *os.File // the last part
	parts []part   // parts not yet read to the end, the first one begun
	made  int      // parts so far

	written, read int64
	complete      bool // nothing more will be written
	left          bool // nobody reads any more
}

// A part is one file of a spool.
type part struct {
	path          string
	written, read int64
}

func (p *part) unread() int64 { return p.written - p.read }

// New creates the file at path and replaces an existing one. It keeps about the first
// keep bytes of the history; all of it if keep is zero.
func New(path string, keep int64) (*Spool, error) {
	s := &Spool{path: path, keep: keep}
	s.grown.L = &s.mu
	return s, s.begin()
}

// begin makes the next part, and ends the one before.
func (s *Spool) begin() error {
	if s.out != nil {
		if err := s.out.Close(); err != nil {
			return err
		}
	}
	path := s.path
	if s.made > 0 {
		path = fmt.Sprintf("%s.%d", s.path, s.made)
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	s.out, s.made = out, s.made+1
	s.parts = append(s.parts, part{path: path})
	return nil
}

// Write implements io.Writer. It fails if nobody reads any more and the spool does not
// keep the data.
func (s *Spool) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(); err != nil {
		return 0, err
	}
	n, err := s.out.Write(b)
	s.parts[len(s.parts)-1].written += int64(n)
	s.written += int64(n)
	s.grown.Signal()
	return n, err
}

// admit makes room for the next write. The caller holds s.mu.
func (s *Spool) admit() error {
	switch last := &s.parts[len(s.parts)-1]; {
	case s.complete:
		return fmt.Errorf("write %s: %w", s.path, os.ErrClosed)
	case s.keep == 0, s.made == 1 && last.written < s.keep:
		return nil
	case s.left:
		return errors.New("nobody reads the history any more, of which only the beginning is kept; hint: keep all of it")
	case s.written-s.read > maxBehind:
		return fmt.Errorf("the history is read too slowly: %d bytes behind; hint: keep all of it, or record less", s.written-s.read)
	case s.made > 1 && last.written < partSize:
		return nil
	}
	return s.begin()
}

// Close marks the end of the data, at which a reader gets io.EOF. It returns the error of
// closing the file. Closing again does nothing.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete {
		return nil
	}
	s.complete = true
	s.grown.Signal()
	err := s.out.Close()
	if s.left {
		err = errors.Join(err, s.remove(s.parts[0]))
	}
	return err
}

// Behind returns the number of bytes written and not yet read.
func (s *Spool) Behind() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written - s.read
}

// Whole reports whether the file at the spool's path has all the data.
func (s *Spool) Whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made == 1
}

// Kept reports whether all data read so far stays in the file at the spool's path.
func (s *Spool) Kept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[0].path == s.path
}

// Reader returns a reader of the spool from its beginning, which waits at the end of the
// data written so far. There must be only one.
func (s *Spool) Reader() io.ReadCloser { return &spoolReader{spool: s} }

// wait returns the part to read next, which has unread data unless it ends there.
func (s *Spool) wait() part {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.parts[0].unread() == 0 && len(s.parts) == 1 && !s.complete {
		s.grown.Wait()
	}
	return s.parts[0]
}

// took notes that n bytes of the first part were read.
func (s *Spool) took(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[0].read += int64(n)
	s.read += int64(n)
}

// drop moves on from a part that was read to its end, and removes the part unless it is
// to be kept. It returns io.EOF if there is no other.
func (s *Spool) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 1 {
		return io.EOF
	}
	gone := s.parts[0]
	s.parts = s.parts[1:]
	return s.remove(gone)
}

// remove removes the file of a part, unless it is the first.
func (s *Spool) remove(p part) error {
	if p.path == s.path {
		return nil
	}
	return os.Remove(p.path)
}

// leave notes that the reader has stopped.
func (s *Spool) leave() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	for len(s.parts) > 1 {
		err = errors.Join(err, s.remove(s.parts[0]))
		s.parts = s.parts[1:]
	}
	if s.complete {
		err = errors.Join(err, s.remove(s.parts[0]))
	}
	return err
}

// A spoolReader reads one part after the other.
type spoolReader struct {
	spool *Spool
	in    *os.File // nil between two parts
	left  bool
}

// Read implements io.Reader. The error at the end is io.EOF, once the Spool was closed;
// until then Read waits for more.
func (r *spoolReader) Read(b []byte) (int, error) {
	for {
		p := r.spool.wait()
		if p.unread() == 0 {
			if err := r.close(); err != nil {
				return 0, err
			}
			if err := r.spool.drop(); err != nil {
				return 0, err
			}
			continue
		}
		if err := r.open(p); err != nil {
			return 0, err
		}
		n, err := r.in.Read(b[:min(int64(len(b)), p.unread())])
		r.spool.took(n)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s is shorter than what was written to it: %w", p.path, io.ErrUnexpectedEOF)
		}
		return n, err
	}
}

// open opens the file of p, unless it is open.
func (r *spoolReader) open(p part) (err error) {
	if r.in == nil {
		r.in, err = os.Open(p.path)
	}
	return err
}

func (r *spoolReader) close() error {
	if r.in == nil {
		return nil
	}
	err := r.in.Close()
	r.in = nil
	return err
}

// Close ends the reading, and removes the parts that are not to be kept. Closing again
// does nothing.
func (r *spoolReader) Close() error {
	if r.left {
		return nil
	}
	r.left = true
	return errors.Join(r.close(), r.spool.leave())
}
