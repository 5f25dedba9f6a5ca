//go:build unix

package wholefile

import (
	"os"
	"syscall"
)

// foreign reports whether the owner of link is neither this user nor the owner of dir.
func foreign(link, dir os.FileInfo) bool {
	l, known := link.Sys().(*syscall.Stat_t)
	d, too := dir.Sys().(*syscall.Stat_t)
	return known && too && l.Uid != d.Uid && int64(l.Uid) != int64(os.Geteuid())
}
