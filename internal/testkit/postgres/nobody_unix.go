//go:build unix

package postgres

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged makes command run as nobody if this process is root, which PostgreSQL refuses, and
// makes dir nobody's.
func unprivileged(command *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(nobody.Uid)
	gid, errGroup := strconv.Atoi(nobody.Gid)
	if err := errors.Join(err, errGroup, os.Chown(dir, uid, gid)); err != nil {
		return err
	}
	command.Dir = dir
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}
