package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLeftoversAreClearedAndNothingElse(t *testing.T) {
	const prefix = usual
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	t.Setenv("TMP", base)
	made := func() *Dir {
		d, err := New("", prefix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.File("content"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return d
	}
	used, left, kept, removed := made(), made(), made(), made()
	foreign, linked := filepath.Join(base, "lockbench-tests"), filepath.Join(base, prefix+"link")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(foreign, linked); err != nil {
		t.Skip(err)
	}
	for _, err := range []error{left.Abandon(), kept.Keep(), removed.Remove()} {
		if err != nil {
			t.Error(err)
		}
	}
	halfRemoved, halfMade, young := filepath.Join(base, oldPrefix+"1"), filepath.Join(base, freshPrefix+"1"), filepath.Join(base, freshPrefix+"2")
	for _, dir := range []string{halfRemoved, halfMade, young} {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * making)
	if err := os.Chtimes(halfMade, past, past); err != nil {
		t.Fatal(err)
	}
	fresh, err := Fresh()
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Remove()
	for path, want := range map[string]bool{halfRemoved: false, halfMade: false, young: true, used.File("content"): true, left.Path: false, kept.File("content"): true, removed.Path: false, foreign: true, linked: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
	if err := used.Remove(); err != nil {
		t.Error(err)
	}
	if all, _ := os.ReadDir(base); len(all) != 5 { // kept, foreign, linked, young, fresh
		t.Errorf("left: %v", all)
	}
}

// TestKeptFoldersAreBounded: of the kept folders, the newest stay, for some time.
func TestKeptFoldersAreBounded(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	t.Setenv("TMP", base)
	now, there := time.Now(), map[string]bool{}
	keep := func(age time.Duration, want bool) {
		d, err := New("", usual)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(os.WriteFile(d.File("content"), nil, 0o600), d.Keep(), os.Chtimes(d.Path, now, now.Add(-age)))
		if err != nil {
			t.Fatal(err)
		}
		there[d.Path] = want
	}
	for i := range 3 { // in use, or another's: never removed
		d, err := New("", []string{usual, usual, "lockbench-other-"}[i])
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			err = d.Keep()
		} else {
			defer d.Remove()
		}
		if err = errors.Join(err, os.Chtimes(d.Path, now, now.Add(-100*KeptFor))); err != nil {
			t.Fatal(err)
		}
		there[d.Path] = true
	}
	keep(KeptFor+time.Hour, false)
	for i := range MostKept + 2 {
		keep(time.Duration(i)*time.Hour, i < MostKept)
	}
	fresh, err := Fresh()
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Remove()
	for path, want := range there {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
}

// TestLock checks that only one caller holds a lock at a time, and that it can
// be taken again afterwards.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		release, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(path); !errors.Is(err, ErrInUse) {
			t.Errorf("a second lock: %v", err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file stays")
	}
}
