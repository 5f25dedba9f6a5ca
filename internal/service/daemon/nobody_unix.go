//go:build unix

package daemon

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// nobody returns the user that programs run as that refuse root.
func nobody() (uid, gid int, err error) {
	who, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, err
	}
	uid, err = strconv.Atoi(who.Uid)
	gid, errGroup := strconv.Atoi(who.Gid)
	return uid, gid, errors.Join(err, errGroup)
}

// Unprivileged makes command run as nobody if this process is root.
func Unprivileged(command *exec.Cmd) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return err
}

// Give makes path nobody's if this process is root.
func Give(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	return errors.Join(err, os.Chown(path, uid, gid))
}

// Base returns the folder for [NewHome] of a server that runs as nobody: the system's, unless it is closed to
// that user.
func Base() string {
	const passable = 0o001
	dir := os.TempDir()
	for at := dir; os.Geteuid() == 0 && at != "/" && at != "."; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&passable == 0 {
			return "/tmp"
		}
	}
	return dir
}
