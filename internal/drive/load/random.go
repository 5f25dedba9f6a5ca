package load

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync"
)

// processRandom is the random source for a process's tokens: the same bytes for
// the same seed and process, different ones for any other.
func processRandom(seed uint64, process int) io.Reader {
	key := [32]byte{31: 'p'} // sets it apart from the clients' choices
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(process))
	return &lockedRandom{source: rand.NewChaCha8(key)}
}

type lockedRandom struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (l *lockedRandom) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Read(p)
}
