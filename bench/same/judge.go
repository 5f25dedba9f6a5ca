package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// together is the number of histories that one process judges.
const together = 40

// A side is one of the two compared sides.
type side struct {
	title string // OLD or NEW
	path  string
}

// judgements are the side's judgements of the corpus, read from the file if it is a
// golden file.
func (s side) judgements(ctx context.Context, c corpus) (judgements, error) {
	if isGolden(s.path) {
		return readGolden(s.path)
	}
	b := binary{s.path}
	if err := b.usable(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.title, err)
	}
	js := b.judgeAll(ctx, c)
	if js.judged() == 0 {
		for name, j := range js {
			return nil, fmt.Errorf("%s: %s judged none of %d histories; of %s it said: %s; hint: is it a lockbench?", s.title, s.path, len(js), name, j.said)
		}
	}
	return js, nil
}

func isGolden(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len("# lockbench golden"))
	_, err = f.Read(start)
	return err == nil && string(start) == "# lockbench golden"
}

// judgeAll judges the corpus, in as many processes as there are processors.
func (b binary) judgeAll(ctx context.Context, c corpus) judgements {
	js := judgements{}
	var guard sync.Mutex
	var all sync.WaitGroup
	work := make(chan []string)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for names := range work {
				said := b.judgeSome(ctx, c, names)
				guard.Lock()
				maps.Copy(js, said)
				guard.Unlock()
			}
		})
	}
	for _, names := range c.batches() {
		work <- names
	}
	close(work)
	all.Wait()
	return js
}

// batches are the names for one process each: several histories, or one replay.
func (c corpus) batches() (all [][]string) {
	var histories []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if filepath.Ext(name) == replayExt {
			all = append(all, []string{name})
		} else {
			histories = append(histories, name)
		}
	}
	return slices.AppendSeq(all, slices.Chunk(histories, together))
}

// judgeSome judges some of the corpus: in one process if that works, else one after the
// other.
func (b binary) judgeSome(ctx context.Context, c corpus, names []string) judgements {
	js := judgements{}
	var files []string
	for _, name := range names {
		files = append(files, c[name])
	}
	if len(files) > 1 {
		if said, whole := b.judgeTogether(ctx, files); whole {
			for i, name := range names {
				js[name] = said[i]
			}
			return js
		}
	}
	for i, name := range names {
		js[name] = b.judge(ctx, files[i])
	}
	return js
}
