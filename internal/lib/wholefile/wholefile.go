// Package wholefile replaces files atomically: a file is either complete or unchanged.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// temporary is the prefix of the names of unfinished files.
const temporary = ".lockbench-"

// unfinished has the paths of the unfinished files.
var unfinished sync.Map

// Abandon removes the incomplete files, for a process that ends.
func Abandon() {
	unfinished.Range(func(path, _ any) bool {
		_ = os.Remove(path.(string)) // it may have been finished by now
		return true
	})
}

// Write writes a file beside path, which then replaces path, so that a reader sees either the old
// file or the new one, and an error leaves the old one in place. The file keeps its permissions; a
// new one is readable by all. A path that is no regular file, such as a pipe or a device, is
// written directly.
func Write(path string, write func(io.Writer) error) (err error) {
	info, missing := os.Stat(path)
	if missing == nil && !info.Mode().IsRegular() {
		return direct(path, write)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays a link
	}
	f, err := os.CreateTemp(filepath.Dir(path), temporary)
	if err != nil {
		if name := (*os.PathError)(nil); errors.As(err, &name) {
			err = name.Err // the name is of no use
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	unfinished.Store(f.Name(), nil)
	defer unfinished.Delete(f.Name())
	mode := os.FileMode(0o644)
	if missing == nil {
		mode = info.Mode().Perm()
	}
	err = errors.Join(write(f), f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

func direct(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Probe returns an error if path cannot be written, as far as that can be known in advance. It
// changes nothing.
func Probe(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory; hint: name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil:
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("%w; hint: make the directory first", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	f, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return fmt.Errorf("nothing can be written to %s: %w; hint: name a file in another directory", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
