package explore

import (
	crand "crypto/rand"
	"encoding/binary"
	"io"
	mrand "math/rand"
	"math/rand/v2"
	"sync"
)

// A seededSource gives the same random bytes in every schedule. It is safe for concurrent use.
type seededSource struct {
	mu     sync.Mutex
	source rand.ChaCha8
}

// seed restarts the bytes of this seed and stream.
func (s *seededSource) seed(seed uint64, stream int) {
	key := [32]byte{31: 'x'}
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(stream))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source.Seed(key)
}

// Read implements io.Reader.
func (s *seededSource) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Read(p)
}

// sharedStream is the stream of random bytes for lock code that bypasses its environment.
const sharedStream = -1

// globalRandom seeds the random sources of the whole program, for lock code that uses them. Only
// one exploration at a time has them, and restores them at its end; nothing else in the program may
// use them meanwhile.
type globalRandom struct {
	crypto seededSource
	before io.Reader
}

var globalInUse sync.Mutex

func takeGlobal() *globalRandom {
	globalInUse.Lock()
	g := &globalRandom{before: crand.Reader}
	crand.Reader = &g.crypto
	return g
}

func (g *globalRandom) restore() {
	crand.Reader = g.before
	globalInUse.Unlock()
}

// seed restarts both sources. Seeding math/rand has an effect only under
// GODEBUG=randseednop=0, and costs more than a step, so it is optional.
func (g *globalRandom) seed(seed uint64, math bool) {
	g.crypto.seed(seed, sharedStream)
	if math {
		//lint:ignore SA1019 lock code that we do not write may draw from it
		mrand.Seed(int64(seed))
	}
}
