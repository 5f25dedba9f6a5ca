package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// contents are the files of dir by name.
func contents(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSpoolIsReadWhileItIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		keep  int64
		whole bool
	}{{"all is kept", 0, true}, {"the beginning is kept", 1 << 20, false}, {"it fits", 1 << 30, true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			spool, err := New(filepath.Join(dir, "h"), c.keep)
			if err != nil {
				t.Fatal(err)
			}
			written := make(chan []byte)
			go func() { written <- writeSpool(t, spool, 3*partSize) }()
			in := spool.Reader()
			got, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			want := <-written
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes read, want the %d that were written", len(got), len(want))
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if names := contents(t, dir); !slices.Equal(names, []string{"h"}) {
				t.Errorf("files %q are left, want the first only", names)
			}
			kept, err := os.ReadFile(filepath.Join(dir, "h"))
			if err != nil || !bytes.HasPrefix(want, kept) || int64(len(kept)) < min(c.keep, int64(len(want))) {
				t.Errorf("%d bytes kept, error %v; want the beginning", len(kept), err)
			}
			if spool.Whole() != c.whole || c.whole != (len(kept) == len(want)) || spool.Behind() != 0 {
				t.Errorf("whole %v with %d of %d bytes kept, %d behind; want %v, 0", spool.Whole(), len(kept), len(want), spool.Behind(), c.whole)
			}
		})
	}
}

// writeSpool writes so many bytes in pieces, and ends.
func writeSpool(t *testing.T, spool *Spool, size int) []byte {
	all := make([]byte, size)
	for i := range all {
		all[i] = byte(i ^ i>>8 ^ i>>16)
	}
	for rest := all; len(rest) > 0; {
		n, err := spool.Write(rest[:min(len(rest), 300_000)])
		if err != nil {
			t.Error(err)
			break
		}
		rest = rest[n:]
	}
	if err := spool.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// TestSpoolKeepsNoMoreThanItMust checks that read parts are removed from the disk while
// the rest is still being written.
func TestSpoolKeepsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spool, err := New(filepath.Join(dir, "h"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	in := spool.Reader()
	chunk, sink := make([]byte, 1<<20), make([]byte, 1<<20)
	for range 5 * partSize / len(chunk) {
		if _, err := spool.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(in, sink); err != nil {
			t.Fatal(err)
		}
		if names := contents(t, dir); len(names) > 3 {
			t.Fatalf("%q are kept at one time, want 3 files at most", names)
		}
	}
	if spool.Kept() || spool.Whole() {
		t.Error("a spool of which the beginning is kept says that it has all")
	}
	if err := errors.Join(spool.Close(), in.Close()); err != nil {
		t.Error(err)
	}
	if names := contents(t, dir); !slices.Equal(names, []string{"h"}) {
		t.Errorf("files %q are left, want the first only", names)
	}
}

// TestSpoolWithoutReader checks that writing fails rather than lose unread data that is
// not kept.
func TestSpoolWithoutReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		keep  int64
		fails bool
	}{{"all is kept", 0, false}, {"the beginning is kept", 10, true}} {
		t.Run(c.name, func(t *testing.T) {
			spool, err := New(filepath.Join(t.TempDir(), "h"), c.keep)
			if err != nil {
				t.Fatal(err)
			}
			if err := spool.Reader().Close(); err != nil {
				t.Fatal(err)
			}
			_, first := spool.Write(make([]byte, 100))
			_, second := spool.Write(make([]byte, 100))
			if first != nil || (second != nil) != c.fails {
				t.Errorf("errors %v and %v, want the second: %v", first, second, c.fails)
			}
			if err := spool.Close(); err != nil {
				t.Error(err)
			}
			if _, err := spool.Write(nil); !errors.Is(err, os.ErrClosed) {
				t.Errorf("written after the end: %v, want closed", err)
			}
		})
	}
}
