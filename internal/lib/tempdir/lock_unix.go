//go:build unix

package tempdir

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens path, which it makes if necessary, and locks it against every
// other open file until it is closed or the process ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(ErrInUse, err, f.Close())
	}
	return f, nil
}

// isOurs reports whether path is a folder, not a link to one, that belongs to
// this user.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
