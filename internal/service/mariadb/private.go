package mariadb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoProgram means that MariaDB is not installed.
var ErrNoProgram = errors.New("needs mariadb, and there is no program mariadbd; hint: install it (Debian: mariadb-server), or name a server: --server mysql://USER:PASSWORD@HOST/DATABASE")

const homePrefix = "lockbench-mariadb-" // of the folders of private servers

// A private is a private server.
type private struct {
	home *tempdir.Dir
	url  *url.URL // with the password
}

// Start starts a private server, and returns when it answers, within a minute. It listens on a
// loopback port, and syncs nothing to disk. The error is [ErrNoProgram] if MariaDB is not installed. On
// Linux it ends with this process however that ends.
func Start(ctx context.Context) (*Server, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	home, err := daemon.NewHome(daemon.Base(), homePrefix)
	if err != nil {
		return nil, fmt.Errorf("private mariadb: %w", err)
	}
	p := &private{home: home}
	if err := p.create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("private mariadb: %w", err), home.Remove())
	}
	var s *Server
	own, err := daemon.Start(ctx, daemon.Program{
		Name: "mariadb", Home: home,
		Listen: func() (err error) {
			if p.url.Host, err = servers.FreePort(); err == nil {
				s, err = newServer(design.Private, p.url.String())
			}
			return err
		},
		Command: func() (*exec.Cmd, error) { return p.command(program) },
		Answers: func(ctx context.Context) error { return p.answers(ctx, s) },
	})
	if err != nil {
		return nil, err
	}
	s.Daemon = own
	return s, nil
}

// only replaces the users of a new server by two, who may do everything: the user of the locks, and that
// of lockbench's own sessions. They are the rows of a table,
// because a server that makes its data runs no statements on users. %s is the password.
const only = `delete from mysql.global_priv where User <> 'mariadb.sys';
insert into mysql.global_priv select '127.0.0.1', name, json_object('access', 18446744073709551615, 'plugin', 'mysql_native_password', 'authentication_string', password('%s')) from (select '` + theirUser + `' as name union select '` + ourUser + `') as names;
create database lockbench;
`

// create makes the data of the server, below a folder of the user that it runs as.
func (p *private) create(ctx context.Context) error {
	password := rand.Text()
	p.url = &url.URL{Scheme: "mysql", User: url.UserPassword(theirUser, password), Path: "/lockbench"}
	users := filepath.Join(p.folder(), "users.sql")
	err := errors.Join(os.Chmod(p.home.Path, 0o711), os.Mkdir(p.folder(), 0o700), daemon.Give(p.folder()))
	if err == nil {
		err = errors.Join(os.WriteFile(users, fmt.Appendf(nil, only, password), 0o600), daemon.Give(users))
	}
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, installer, "--no-defaults", "--datadir="+p.data(), "--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-name-resolve", "--extra-file="+users)
	if err := p.unprivileged(command); err != nil {
		return err
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", installer, err, out)
	}
	return os.Remove(users)
}

func (p *private) folder() string { return filepath.Join(p.home.Path, "server") }
func (p *private) data() string   { return filepath.Join(p.folder(), "data") }

// unprivileged makes command run as the user of the folder, and write nowhere else.
func (p *private) unprivileged(command *exec.Cmd) error {
	command.Dir = p.folder()
	command.Env = append(os.Environ(), "TMPDIR="+p.folder())
	return daemon.Unprivileged(command)
}

// command returns the command that starts the server. What was committed is in the files of the system when
// the server is killed. Without names of hosts it blocks no host whose connections break.
func (p *private) command(program string) (*exec.Cmd, error) {
	host, port, _ := net.SplitHostPort(p.url.Host)
	command := exec.Command(program, append([]string{"--no-defaults", "--datadir=" + p.data(), "--bind-address=" + host, "--port=" + port, "--socket=",
		"--skip-name-resolve", "--max-connections=500", "--log-warnings=1", "--pid-file=" + filepath.Join(p.folder(), "pid"),
		"--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M"}, options...)...)
	return command, p.unprivileged(command)
}

var options []string // more of them, for tests

// answers returns nil if s answers and is ours: it knows the password, and where its data are.
func (p *private) answers(ctx context.Context, s *Server) error {
	where, err := s.greet(ctx)
	if err == nil && filepath.Clean(where) != p.data() {
		return fmt.Errorf("%w at %s, with data in %s", daemon.ErrForeign, p.url.Host, where)
	}
	return err
}

// EndSessions implements [design.SessionEnder]. It spares lockbench's own.
func (s *Server) EndSessions(ctx context.Context) error {
	const sessions = "select id from information_schema.processlist where user = ?"
	return s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		found, err := column[int64](ctx, conn, sessions, theirUser)
		for _, id := range found {
			failed := conn.Run(ctx, fmt.Sprint("kill ", id))
			if answer := (*mysql.MySQLError)(nil); errors.As(failed, &answer) && answer.Number == noSuchThread {
				failed = nil // it has just ended
			}
			err = errors.Join(err, failed)
		}
		for left := found; err == nil && slices.ContainsFunc(left, func(id int64) bool { return slices.Contains(found, id) }); {
			time.Sleep(time.Millisecond) // a session ends soon after its kill
			left, err = column[int64](ctx, conn, sessions, theirUser)
		}
		return err
	})
}

const noSuchThread = 1094 // ER_NO_SUCH_THREAD

// Missing returns [ErrNoProgram] if MariaDB is not installed.
func Missing() error {
	_, err := findProgram()
	return err
}

// installer makes the data of a server. debian is Debian's program, which is not in the PATH of every user.
const installer = "mariadb-install-db"

var debian = "/usr/sbin/mariadbd"

// findProgram returns the program of the server.
func findProgram() (string, error) {
	if _, err := exec.LookPath(installer); err != nil {
		return "", ErrNoProgram
	}
	for _, name := range []string{"mariadbd", debian} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", ErrNoProgram
}
