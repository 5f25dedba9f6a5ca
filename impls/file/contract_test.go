package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// holder is the design of the lock that a child of the test holds, in the directory of the
// other variable.
const holder = "LOCKBENCH_TEST_HOLDS"

// TestMain is also the child process, which holds a lock until it is killed.
func TestMain(m *testing.M) {
	if name := os.Getenv(holder); name != "" {
		_, l, err := open(name, os.Getenv("LOCKBENCH_TEST_DIR"))
		if err == nil {
			_, err = l.Acquire(context.Background(), "key", lockbench.Options{TTL: time.Second})
		}
		fmt.Println(err)
		select {}
	}
	os.Exit(m.Run())
}

// open opens a process of the design and an owner in it.
func open(name, dir string) (design.Process, lockbench.Locker, error) {
	for _, d := range Designs() {
		if d.Name == name {
			p, err := d.Open(design.Environment{Services: []any{dir}, Prefix: "test:"})
			if err != nil {
				return nil, nil, err
			}
			return p, p.Locker(design.Blind), nil
		}
	}
	return nil, nil, errors.New("no design of that name")
}

func each(t *testing.T, test func(t *testing.T, name, dir string)) {
	for _, d := range Designs() {
		t.Run(d.Name, func(t *testing.T) { test(t, d.Name, t.TempDir()) })
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, name, dir string) {
		_, a, err := open(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		_, b, _ := open(name, dir)
		held, err := a.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if from, granted := held.(lockbench.Validator).Valid(); from.IsZero() || granted != 0 {
			t.Errorf("valid from %v for %v, want no lease", from, granted)
		}
		for _, l := range []lockbench.Locker{a, b} {
			if _, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second}); !errors.Is(err, lockbench.ErrNotAcquired) {
				t.Errorf("a second acquire: %v, want that it is refused", err)
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := b.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second})
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatADeadProcessLeaves kills a process that holds a lock: the kernel frees its own, a
// file stays.
func TestWhatADeadProcessLeaves(t *testing.T) {
	each(t, func(t *testing.T, name, dir string) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), holder+"="+name, "LOCKBENCH_TEST_DIR="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if said, err := bufio.NewReader(out).ReadString('\n'); said != "<nil>\n" {
			t.Errorf("the child says %q, error %v", said, err)
		}
		_, l, _ := open(name, dir)
		if _, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second}); !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("while it lives: %v, want that it is refused", err)
		}
		_ = child.Process.Kill()
		_ = child.Wait() // its error is that it was killed
		_, err = l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second})
		if free := err == nil; free != (name == "file/flock") {
			t.Errorf("after its death: %v", err)
		}
	})
}

// TestProcessEnds checks that closing a process releases the same locks as the end of a real one.
func TestProcessEnds(t *testing.T) {
	each(t, func(t *testing.T, name, dir string) {
		p, a, _ := open(name, dir)
		held, err := a.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		_, b, _ := open(name, dir)
		_, err = b.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Second})
		if free := err == nil; free != (name == "file/flock") {
			t.Errorf("after its end: %v", err)
		}
		if name != "file/flock" {
			return
		}
		if err := held.Release(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("release after the end: %v", err)
		}
		if _, err := a.Acquire(t.Context(), "other", lockbench.Options{TTL: time.Second}); !errors.Is(err, errClosed) {
			t.Errorf("acquire after the end: %v", err)
		}
	})
}

func TestGivenUp(t *testing.T) {
	for _, d := range Designs() {
		t.Run(d.Name, func(t *testing.T) {
			dir := t.TempDir()
			designtest.GivenUp(t, d, func() any { return dir })
		})
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	theirs, err := directories{}.Open(t.Context(), []string{"file://" + dir}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := directories{}.Open(t.Context(), nil, 2)
	if err != nil || len(ours) != 2 {
		t.Fatalf("%d directories, error %v, want two", len(ours), err)
	}
	for _, s := range append(theirs, ours...) {
		path := s.Reach().(string)
		if err := errors.Join(s.Check(t.Context(), nil), s.Ping(t.Context())); err != nil {
			t.Error(err)
		}
		_, l, err := open("file/excl", path)
		if err == nil {
			_, err = l.Acquire(t.Context(), "a/b c", lockbench.Options{TTL: time.Second})
		}
		if err != nil {
			t.Fatal(err)
		}
		for prefix, want := range map[string]int{"": 0, "tes:": 0, "test:": 1} {
			if n, err := s.Sweep(t.Context(), prefix); n != want || err != nil {
				t.Errorf("swept %d files of %q, error %v, want %d", n, prefix, err, want)
			}
		}
		_ = s.Close()
		if _, err := os.Stat(path); (err == nil) != (s.Kind() == design.External) {
			t.Errorf("%s directory after it was closed: %v", s.Kind(), err)
		}
	}
	if err := ours[0].Check(t.Context(), nil); err == nil {
		t.Error("a directory that is gone can have locks")
	}
	if _, err := (directories{}).Open(t.Context(), []string{"file://" + dir}, 2); err == nil {
		t.Error("one directory for a design that needs two")
	}
	if (directories{}).Serves("redis://localhost") || !(directories{}).Serves("file:///tmp") {
		t.Error("an address of the wrong backend")
	}
}
