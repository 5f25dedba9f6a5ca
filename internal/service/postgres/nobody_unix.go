//go:build unix

package postgres

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// nobody returns the user that PostgreSQL's programs run as, because they refuse root.
func nobody() (uid, gid int, err error) {
	who, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, err
	}
	uid, err = strconv.Atoi(who.Uid)
	gid, errGroup := strconv.Atoi(who.Gid)
	return uid, gid, errors.Join(err, errGroup)
}

// unprivileged makes command run as nobody if this process is root.
func unprivileged(command *exec.Cmd) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return err
}

// give makes path nobody's if this process is root.
func give(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	return errors.Join(err, os.Chown(path, uid, gid))
}

// base returns the folder for those of private servers: the system's, unless it is closed to the user
// that they run as.
func base() string {
	const passable = 0o001
	dir := os.TempDir()
	for at := dir; os.Geteuid() == 0 && at != "/" && at != "."; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&passable == 0 {
			return "/tmp"
		}
	}
	return dir
}
