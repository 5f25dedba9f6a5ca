package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func content(text string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, failed := io.WriteString(w, text)
		return errors.Join(failed, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	full := errors.New("no space left")
	if err := Write(path, content("half", full)); !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names the file", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that failed is there")
	}
	if err := Write(path, content("first", nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, content("half", full)); err == nil || read(t, path) != "first" {
		t.Errorf("got error %v and %q, want the file of before", err, read(t, path))
	}
	if err := os.Symlink("a", link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, content("second", nil)); err != nil || read(t, path) != "second" {
		t.Errorf("got error %v and %q, want what was written through the link", err, read(t, path))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v, %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("got %v, %v, want the permissions of before", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, temporary+"*")); len(left) > 0 {
		t.Errorf("%q were left", left)
	}
}

// TestFile checks that a file that is written in parts is in its place once it is closed, and that
// an error, of a write or of the caller, leaves the old one there.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	create := func(text string) *File {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := create("fir")
	if _, err := os.Stat(path); err == nil {
		t.Error("an unfinished file is there")
	}
	if _, err := io.WriteString(f, "st"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || read(t, path) != "first" {
		t.Errorf("got %v and %q", err, read(t, path))
	}
	f = create("second")
	full := errors.New("no space left")
	f.Fail(nil)
	f.Fail(full)
	f.Fail(errors.New("a later one"))
	if err := f.Close(); !errors.Is(err, full) || strings.Contains(err.Error(), "later") || read(t, path) != "first" {
		t.Errorf("got %v and %q, want the first error and the file of before", err, read(t, path))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), temporary+"*")); len(left) > 0 {
		t.Errorf("%q were left", left)
	}
}

// TestPermissions checks that the process's mask decides the permissions of a new file, and that a
// read-only file is refused and stays.
func TestPermissions(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no permissions here")
	}
	path := filepath.Join(t.TempDir(), "a")
	beside, err := os.Create(path + ".beside")
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	want, err := beside.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, content("first", nil)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != want.Mode() {
		t.Errorf("got %v, %v, want %v as of any new file", info.Mode(), err, want.Mode())
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"write": Write(path, content("second", nil)), "probe": Probe(path)} {
		if err == nil || !strings.Contains(err.Error(), path+": it is read-only; hint: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if read(t, path) != "first" {
		t.Error("a read-only file was replaced")
	}
}

// TestForeignLink checks that a link that another user placed in a directory of all users is not
// followed.
func TestForeignLink(t *testing.T) {
	dir := t.TempDir()
	mine, link := filepath.Join(dir, "mine"), filepath.Join(dir, "link")
	if err := os.WriteFile(mine, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("mine", link); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := Probe(link); err != nil {
		t.Errorf("a link of this user: %v", err)
	}
	if err := os.Lchown(link, 12345, -1); err != nil {
		t.Skip(err)
	}
	for name, err := range map[string]error{"write": Write(link, content("replaced", nil)), "probe": Probe(link)} {
		if err == nil || !strings.Contains(err.Error(), "symbolic link of another user") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Probe(link); err != nil {
		t.Errorf("in a directory of this user alone: %v", err)
	}
	if read(t, mine) != "kept" {
		t.Error("the target was replaced")
	}
}

func TestWriteDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	if err := Write("/dev/full", content("text", nil)); err == nil {
		t.Error("no error of a full device")
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is gone: %v", err)
	}
	if err := Write(os.DevNull, content("text", nil)); err != nil {
		t.Error(err)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := Write(file, content("text", nil)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "", filepath.Join(dir, "new"): "", os.DevNull: "",
		dir:                        "is a directory; hint: ",
		filepath.Join(dir, "no/x"): "make the directory first",
		filepath.Join(file, "x"):   "not a directory",
	} {
		if err := Probe(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 || read(t, file) != "text" {
		t.Errorf("a probe changed something: %v", all)
	}
}
