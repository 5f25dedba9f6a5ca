package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// killBelow kills the processes that work in a folder, which is nobody's, or below it.
func killBelow(folder string) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return
	}
	all, _ := filepath.Glob("/proc/[0-9]*/cwd") // only a malformed pattern is an error
	for _, link := range all {
		at, err := os.Readlink(link) // it may have ended, or be another user's
		if err != nil || at != folder && !strings.HasPrefix(at, folder+"/") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link))) // the pattern has digits only
		_ = syscall.Kill(pid, syscall.SIGKILL)                    // it may have ended
	}
}
