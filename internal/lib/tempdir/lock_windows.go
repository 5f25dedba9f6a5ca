package tempdir

import (
	"errors"
	"os"
)

// lockFile makes and opens path, and fails while another process has it open:
// Windows cannot delete a file that Go has open.
func lockFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(ErrInUse, err)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// isOurs reports whether path is a folder; the temporary folder on Windows is
// the user's own.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
