// Package wholefile replaces files atomically: a file is either complete or unchanged.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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

// Write writes a file as [Create] does. If write returns an error, the old file stays.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	f.Fail(write(f))
	return f.Close()
}

// A File is a file that is being written. One goroutine uses it at a time.
type File struct {
	path string // after symbolic links
	old  os.FileInfo
	file *os.File
	err  error // the first
}

// Create makes a file beside path, which Close renames to path, so that a reader sees either the old
// file or the new one, and an error leaves the old one in place. The file keeps its permissions;
// the permissions of a new file follow the process's file mode creation mask. A path that is no
// regular file, such as a pipe or a device, is written directly. Create refuses the paths that
// [Probe] refuses.
func Create(path string) (*File, error) {
	path, info, err := target(path)
	if err != nil {
		return nil, fmt.Errorf("write %w", err)
	}
	if info != nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{path: path, old: info, file: f}, err
	}
	f, err := create(filepath.Dir(path))
	if err != nil {
		if name := (*os.PathError)(nil); errors.As(err, &name) {
			err = name.Err // the name is of no use
		}
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	unfinished.Store(f.Name(), nil)
	return &File{path: path, old: info, file: f}, nil
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	if name := (*os.PathError)(nil); errors.As(err, &name) {
		err = name.Err // the name is that of the unfinished file
	}
	f.Fail(err)
	return n, err
}

// Fail makes Close leave the old file in place and return err, unless err is nil or another error
// came first.
func (f *File) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Close puts the file in its place. It returns the first error of all writes, after which the old
// file is still there.
func (f *File) Close() error {
	direct := f.old != nil && !f.old.Mode().IsRegular()
	if f.old != nil && !direct {
		f.err = errors.Join(f.err, f.file.Chmod(f.old.Mode().Perm()))
	}
	f.err = errors.Join(f.err, f.file.Close())
	if !direct {
		defer unfinished.Delete(f.file.Name())
		if f.err == nil {
			f.err = os.Rename(f.file.Name(), f.path)
		}
		if f.err != nil {
			f.err = errors.Join(f.err, os.Remove(f.file.Name()))
		}
	}
	if f.err != nil {
		return fmt.Errorf("write %s: %w", f.path, f.err)
	}
	return nil
}

// create makes an unfinished file in dir. Unlike [os.CreateTemp] it leaves the permissions to the
// mask of the process.
func create(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, temporary+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// target returns the file that path names, through symbolic links, which stay links. info is nil if
// there is no such file. A file that nobody may write is an error. So is a link that another user
// may have placed: a link in a sticky directory in which all users may make files, if neither this
// user nor the owner of the directory owns the link. Linux follows no such link if
// fs.protected_symlinks is set, but does replace its target.
func target(path string) (real string, info os.FileInfo, err error) {
	if link, err := os.Lstat(path); err == nil && link.Mode()&os.ModeSymlink != 0 {
		dir, err := os.Stat(filepath.Dir(path))
		if err == nil && dir.Mode()&os.ModeSticky != 0 && dir.Mode()&0o002 != 0 && foreign(link, dir) {
			return "", nil, fmt.Errorf("%s: it is a symbolic link of another user, in a directory of all users; hint: name another file", path)
		}
	}
	info, err = os.Stat(path)
	if err != nil {
		return path, nil, nil // the directory tells whether it can be made
	}
	if info.Mode().IsRegular() && info.Mode()&0o222 == 0 {
		return "", nil, fmt.Errorf("%s: it is read-only; hint: chmod u+w, or name another file", path)
	}
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return path, info, nil
	}
	return real, info, nil
}

// Probe returns an error if path cannot be written, as far as that can be known in advance. It
// changes nothing.
func Probe(path string) error {
	path, info, err := target(path)
	switch {
	case err != nil:
		return err
	case info != nil && info.IsDir():
		return fmt.Errorf("%s is a directory; hint: name a file in it", path)
	case info != nil && !info.Mode().IsRegular():
		return nil
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("%w; hint: make the directory first", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	f, err := create(dir)
	if err != nil {
		return fmt.Errorf("nothing can be written to %s: %w; hint: name a file in another directory", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
