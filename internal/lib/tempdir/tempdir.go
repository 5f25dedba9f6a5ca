// Package tempdir makes temporary folders that do not outlive their owner: the next start removes
// the folders of killed processes. The owner keeps a lock on a file in its folder. The system
// releases the lock when the owner ends, in any way, so that a folder without a lock is a leftover.
package tempdir

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	freshPrefix = ".lockbench-new-" // of a folder that is not locked yet
	oldPrefix   = ".lockbench-old-" // of a folder that is being removed
	lockName    = "lock"
)

// A Dir is a folder in use by this process.
type Dir struct {
	Path string

	prefix string
	lock   *os.File
}

// New makes a folder in base, the system's if empty, for this user only. Its name begins with
// prefix. The folder gets this name only once it is locked, since other processes look for
// leftovers by the name.
func New(base, prefix string) (*Dir, error) {
	if base == "" {
		base = os.TempDir()
	}
	removeHalves(base)
	fresh, err := os.MkdirTemp(base, freshPrefix)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(base, prefix+strings.TrimPrefix(filepath.Base(fresh), freshPrefix))
	lock, err := lockFile(filepath.Join(fresh, lockName))
	if err == nil {
		if err = os.Rename(fresh, path); err == nil {
			return &Dir{Path: path, prefix: prefix, lock: lock}, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, errors.Join(err, os.RemoveAll(fresh))
}

// making is longer than it takes to make a folder.
const making = time.Minute

// removeHalves removes the folders in base that a killed process had not finished to remove, or to make. It
// ignores failures; the next start tries again.
func removeHalves(base string) {
	old, _ := filepath.Glob(filepath.Join(base, oldPrefix+"*")) // only a malformed pattern is an error
	fresh, _ := filepath.Glob(filepath.Join(base, freshPrefix+"*"))
	for _, path := range fresh {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > making {
			old = append(old, path)
		}
	}
	for _, path := range old {
		if isOurs(path) {
			_ = os.RemoveAll(path)
		}
	}
}

// File is the path of a file in the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.Path, name) }

// Remove deletes the folder and releases its lock. If the system can rename folders with open
// files, it first hides the folder from processes that clear leftovers: they would lock it during
// the deletion, and so put a file into it.
func (d *Dir) Remove() error {
	unseen := filepath.Join(filepath.Dir(d.Path), oldPrefix+strings.TrimPrefix(filepath.Base(d.Path), d.prefix))
	if os.Rename(d.Path, unseen) == nil {
		d.Path = unseen
	}
	return errors.Join(d.lock.Close(), os.RemoveAll(d.Path))
}

// Keep leaves the folder to the user and removes only the lock. A folder of [Fresh] stays for
// [KeptFor], unless [MostKept] others are newer.
func (d *Dir) Keep() error {
	return errors.Join(d.lock.Close(), os.Remove(d.File(lockName)))
}

// Abandon only releases the lock, as the end of the process does: the next start clears the folder.
func (d *Dir) Abandon() error { return d.lock.Close() }

// Leftovers returns the folders in base, the system's if empty, without a living owner. They belong
// to this process from now on.
func Leftovers(base, prefix string) (all []*Dir) {
	if base == "" {
		base = os.TempDir()
	}
	paths, _ := filepath.Glob(filepath.Join(base, prefix+"*")) // only a malformed pattern is an error
	for _, path := range paths {
		if !isOurs(path) {
			continue
		}
		name := filepath.Join(path, lockName)
		if _, err := os.Lstat(name); err != nil {
			continue // the user keeps it
		}
		if lock, err := lockFile(name); err == nil { // else in use
			all = append(all, &Dir{Path: path, prefix: prefix, lock: lock})
		}
	}
	return all
}

// usual is the prefix of the names of folders of files.
const usual = "lockbench-files-"

// The bounds of the folders that processes keep.
const (
	MostKept = 32
	KeptFor  = 7 * 24 * time.Hour
)

// Fresh makes a folder in the system's temporary folder. It removes the folders of killed processes
// there, and kept folders beyond [MostKept] and [KeptFor]. It ignores failures to remove; the next
// start tries again.
func Fresh() (*Dir, error) {
	for _, d := range Leftovers("", usual) {
		_ = d.Remove()
	}
	clearKept()
	return New("", usual)
}

// clearKept removes kept folders that are beyond the bounds.
func clearKept() {
	type folder struct {
		path string
		kept time.Time
	}
	var all []folder
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), usual+"*")) // only a malformed pattern is an error
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !isOurs(path) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, lockName)); errors.Is(err, os.ErrNotExist) {
			all = append(all, folder{path, info.ModTime()}) // the removal of the lock set it
		}
	}
	slices.SortFunc(all, func(a, b folder) int { return cmp.Or(b.kept.Compare(a.kept), cmp.Compare(a.path, b.path)) })
	for i, f := range all {
		if i >= MostKept || time.Since(f.kept) > KeptFor {
			_ = os.RemoveAll(f.path)
		}
	}
}

// ErrInUse says that another process, or another part of this one, holds the lock.
var ErrInUse = errors.New("in use")

// Lock makes a file and locks it until release is called, which removes it, or the process ends.
// The error wraps [ErrInUse] if it is locked already. Release is never nil.
func Lock(path string) (release func() error, err error) {
	file, err := lockFile(path)
	if err != nil {
		return func() error { return nil }, err
	}
	return func() error {
		removed, closed := os.Remove(path), file.Close()
		if removed != nil { // such as an open file on Windows
			removed = os.Remove(path)
		}
		return errors.Join(removed, closed)
	}, nil
}
