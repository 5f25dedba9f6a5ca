package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoProgram means that ZooKeeper, or a Java to run it, is not installed.
var ErrNoProgram = errors.New("needs zookeeper; hint: install it (Debian: zookeeper), or name a server: --server zk://HOST:PORT")

const homePrefix = "lockbench-zookeeper-" // of the folders of private servers

// Start starts a private server, and returns when it answers, within a minute. It listens on a loopback
// port, and syncs nothing to disk. The error wraps [ErrNoProgram] if ZooKeeper is not installed. On Linux
// it ends with this process however that ends.
func Start(ctx context.Context) (*Server, error) {
	command, err := findProgram()
	if err != nil {
		return nil, err
	}
	home, err := daemon.NewHome("", homePrefix)
	if err != nil {
		return nil, fmt.Errorf("private zookeeper: %w", err)
	}
	s := &Server{kind: design.Private}
	own, err := daemon.Start(ctx, daemon.Program{
		Name: "zookeeper", Home: home,
		Listen: func() (err error) {
			s.address, err = servers.FreePort()
			return err
		},
		Command: func() (*exec.Cmd, error) {
			cmd := exec.Command(command[0], append(command[1:], home.File("zoo.cfg"))...)
			cmd.Dir = home.Path
			return cmd, os.WriteFile(home.File("zoo.cfg"), configuration(home.Path, s.address), 0o600)
		},
		Answers: func(ctx context.Context) error { return s.answers(ctx, home.Path) },
	})
	if err != nil {
		return nil, err
	}
	s.Daemon = own
	return s, nil
}

// configuration returns the configuration file of a private server. A session may be as short as two
// ticks.
func configuration(folder, address string) []byte {
	host, port, _ := net.SplitHostPort(address)
	return []byte(strings.Join([]string{
		"dataDir=" + filepath.Join(folder, "data"), "clientPortAddress=" + host, "clientPort=" + port,
		"tickTime=100", "maxSessionTimeout=3600000", "maxClientCnxns=0", "forceSync=no",
		"admin.enableServer=false", "4lw.commands.whitelist=conf,srvr", "",
	}, "\n"))
}

// findProgram returns the command of a server, without its configuration file.
func findProgram() ([]string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("%w; %w", ErrNoProgram, err)
	}
	const jar, log = "zookeeper.jar", "slf4j-simple.jar" // Debian's, which name the others
	for _, name := range []string{jar, log} {
		if _, err := os.Stat(filepath.Join(jars, name)); err != nil {
			return nil, ErrNoProgram
		}
	}
	return []string{
		java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", filepath.Join(jars, log) + string(os.PathListSeparator) + filepath.Join(jars, jar),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain",
	}, nil
}

// jars is the folder of Debian's Java libraries.
var jars = "/usr/share/java"

// Missing returns [ErrNoProgram] if no private server can be started.
func Missing() error {
	_, err := findProgram()
	return err
}

// answers returns nil if the server answers and has its data in a folder.
func (s *Server) answers(ctx context.Context, folder string) error {
	text, err := s.word(ctx, "conf")
	if err != nil {
		return err
	}
	if !strings.Contains(text, "dataDir=") {
		return errors.New("it does not serve yet")
	}
	if !strings.Contains(text, "dataDir="+folder) {
		return fmt.Errorf("%w at %s: %.80q", daemon.ErrForeign, s.address, text)
	}
	if s.version == "" {
		text, err := s.word(ctx, "srvr")
		if err != nil {
			return err
		}
		const before = "Zookeeper version: " // 3.8.0-..., built on ...
		version, _, _ := strings.Cut(strings.TrimPrefix(text, before), "-")
		s.version = "zookeeper " + version
	}
	return s.Ping(ctx)
}

// word sends a command of four letters, and returns the answer.
func (s *Server) word(ctx context.Context, word string) (string, error) {
	to, err := s.Reach().(*Access).DialServer(ctx)
	if err != nil {
		return "", err
	}
	defer to.Close()
	_ = to.SetDeadline(time.Now().Add(dialTimeout)) // a connection just opened has deadlines
	if _, err := io.WriteString(to, word); err != nil {
		return "", err
	}
	const most = 1 << 16
	text, err := io.ReadAll(io.LimitReader(to, most))
	return string(text), err
}
