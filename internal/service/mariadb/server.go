package mariadb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Backend is the backend of designs on MariaDB.
type Backend struct{}

// Name implements [design.Backend].
func (Backend) Name() string { return "mariadb" }

// Offers implements [design.Backend].
func (Backend) Offers() design.Service { return &Server{version: "MariaDB"} }

// Serves implements [design.Backend].
func (Backend) Serves(address string) bool { return strings.HasPrefix(address, "mysql://") }

// Missing implements [design.Installed].
func (Backend) Missing() error { return Missing() }

// Open implements [design.Backend].
func (Backend) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	return backend.Open(ctx, addresses, n, Connect, Start)
}

// A Server is one MariaDB that answered when lockbench connected to it or started it. Its methods are
// safe for concurrent use. A MySQL is named as such, and was not tried.
type Server struct {
	*daemon.Daemon // nil for a server of the user's; what was committed survives its restart, sessions do not
	kind, version  string
	config         *mysql.Config

	created backend.Created // names of tables
}

var (
	_ design.Service   = (*Server)(nil)
	_ design.Mortal    = (*Server)(nil)
	_ design.Neighbour = (*Server)(nil)
	_ design.Prompt    = (*Server)(nil)
	_ design.Keeper    = (*Server)(nil)
	_ design.Listed    = (*Server)(nil)
	_ design.Networked = (*Server)(nil)
	_ design.Restarter = (*Server)(nil)
	_ design.Suspender = (*Server)(nil)

	_ design.SessionEnder = (*Server)(nil)
)

const (
	defaultPort = "3306"
	dialTimeout = 2 * time.Second
	// patience is how long a request waits for its reply: longer than a fault keeps a server silent.
	patience = 5 * time.Second
)

// newServer returns a server that nobody has connected to.
func newServer(kind, address string) (*Server, error) {
	config := mysql.NewConfig()
	config.InterpolateParams = true // a statement is one request
	config.ClientFoundRows = true
	config.Timeout = dialTimeout
	config.Logger = &mysql.NopLogger{}
	config.DialFunc = new(net.Dialer).DialContext
	u, err := url.Parse(address)
	if err == nil {
		config.Net, config.Addr, config.User, config.DBName = "tcp", u.Host, u.User.Username(), strings.Trim(u.Path, "/")
		config.Passwd, _ = u.User.Password()
		config.TLSConfig = u.Query().Get("tls")
		if u.Port() == "" {
			config.Addr = net.JoinHostPort(u.Hostname(), defaultPort)
		}
		_, err = mysql.NewConnector(config)
	}
	if err != nil || u.Hostname() == "" || config.DBName == "" || u.Fragment != "" || u.RawQuery != "" && u.RawQuery != "tls="+config.TLSConfig { // err may have the password
		return nil, errors.New("server: not an address of MariaDB; hint: mysql://USER:PASSWORD@HOST:PORT/DATABASE, and after that ?tls=true, ?tls=skip-verify or ?tls=preferred")
	}
	return &Server{kind: kind, config: config}, nil
}

// Connect connects to a server of the user's.
func Connect(ctx context.Context, address string) (*Server, error) {
	s, err := newServer(design.External, address)
	if err != nil {
		return nil, err
	}
	if _, err := s.greet(ctx); err != nil {
		return nil, fmt.Errorf("server %s: %w; hint: does it run there, and may this user connect from here?", s.Address(), err)
	}
	return s, nil
}

// greet notes the version of the server and returns the folder of its data.
func (s *Server) greet(ctx context.Context) (data string, err error) {
	var version string
	err = s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		return conn.QueryRowContext(ctx, "select @@version, @@datadir").Scan(&version, &data)
	})
	if err == nil && s.version == "" {
		s.version = "mysql " + version
		if number, _, is := strings.Cut(version, "-MariaDB"); is {
			s.version = "mariadb " + number
		}
	}
	return data, err
}

// Kind implements [design.Service].
func (s *Server) Kind() string { return s.kind }

// Version implements [design.Service].
func (s *Server) Version() string { return s.version }

// Address implements [design.Service].
func (s *Server) Address() string { return "mysql://" + s.config.Addr + "/" + s.config.DBName }

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Endpoint implements [design.Networked].
func (s *Server) Endpoint() string { return s.config.Addr }

// Local implements [design.Neighbour].
func (s *Server) Local() bool { return servers.IsLoopback(s.Endpoint()) }

// Reach implements [design.Service].
func (s *Server) Reach() any { return &Access{server: s, config: s.config} }

// Users of a private server: that of the locks, and that of lockbench's own sessions.
const (
	theirUser = "lockbench"
	ourUser   = "lockbench-own"
)

// direct returns the means to connect for what lockbench asks for: on a private server as another user.
func (s *Server) direct() *Access {
	config := s.config.Clone()
	if s.kind == design.Private {
		config.User = ourUser
	}
	return &Access{server: s, config: config}
}

// Check implements [design.Service]: a run has a table of its own. It sends statements that the server
// refuses whoever sends them, and looks whether the reason is the user.
func (s *Server) Check(ctx context.Context, _ []string) error {
	const table = "`lockbench:none`"
	return s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		for _, try := range []string{"create table %s (x int, x int)", "drop table %s", "insert into %s values ()", "update %s set x = 0", "select 0 from %s"} {
			_, err := conn.ExecContext(ctx, fmt.Sprintf(try, table))
			if answer := (*mysql.MySQLError)(nil); errors.As(err, &answer) && denied[answer.Number] {
				return fmt.Errorf("user %s may not keep a table in database %s, and a run has one of its own: %w; hint: GRANT CREATE, DROP, SELECT, INSERT, UPDATE ON %[2]s.* TO %[1]s",
					s.config.User, s.config.DBName, err)
			} else if err != nil && answer == nil {
				return err
			}
		}
		return nil
	})
}

// denied are the numbers of the errors of a user who may not: ER_DBACCESS_DENIED_ERROR and
// ER_TABLEACCESS_DENIED_ERROR.
var denied = map[uint16]bool{1044: true, 1142: true}

// Ping implements [design.Service].
func (s *Server) Ping(ctx context.Context) error {
	return s.direct().with(ctx, func(ctx context.Context, conn *Conn) error { return conn.PingContext(ctx) })
}

// Ask implements [design.Prompt].
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	return backend.Asked(s.direct().Connect, func(ctx context.Context, c *Conn) error { return c.PingContext(ctx) }, (*Conn).Close)
}

// create creates a table, unless another machine has.
func (s *Server) create(ctx context.Context, name, columns string) error {
	create := func(ctx context.Context, conn *Conn) error {
		return conn.Run(ctx, fmt.Sprintf("create table if not exists %s (%s) engine = innodb", quote(name), columns))
	}
	if err := s.created.Once(name, func() error { return s.direct().with(ctx, create) }); err != nil {
		return fmt.Errorf("server %s: create table %s: %w", s.Address(), name, err)
	}
	return nil
}

// quote returns a name as SQL has it.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Sweep implements [design.Service]: it drops the tables, and returns the number of their rows.
func (s *Server) Sweep(ctx context.Context, prefix string) (removed int, err error) {
	drop := func(ctx context.Context, conn *Conn) error {
		names, err := namesOf(ctx, conn, prefix)
		for _, name := range names {
			var n int
			counted := conn.QueryRowContext(ctx, "select count(*) from "+quote(name)).Scan(&n)
			_, dropped := conn.ExecContext(ctx, "drop table "+quote(name))
			removed, err = removed+n, errors.Join(err, counted, dropped)
		}
		return err
	}
	err = s.created.Sweep(prefix, func() error { return s.direct().with(ctx, drop) })
	return removed, err
}

// Runs implements [design.Listed]. A row was used when its table was last written, or created: a server
// that restarts forgets the former.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	runs := make(backend.Runs)
	err := s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		names, err := namesOf(ctx, conn, "lockbench:")
		for _, name := range names {
			if err != nil {
				return err
			}
			if backend.Prefix(name) == "" {
				continue
			}
			var entries, seconds int
			err = conn.QueryRowContext(ctx, `select (select count(*) from `+quote(name)+`), timestampdiff(second, greatest(create_time, coalesce(update_time, create_time)), now())
				from information_schema.tables where table_schema = database() and table_name = ?`, name).Scan(&entries, &seconds)
			runs.Add(name, entries, time.Duration(seconds)*time.Second)
		}
		return err
	})
	return runs.Sorted(), err
}

// namesOf returns the names of the tables that begin with prefix.
func namesOf(ctx context.Context, conn *Conn, prefix string) ([]string, error) {
	all, err := column[string](ctx, conn, "select table_name from information_schema.tables where table_schema = database()")
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, prefix) }), err
}

// column returns the values of a query with one column.
func column[T any](ctx context.Context, conn *Conn, query string, args ...any) (all []T, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

// An Access is the means of a process of a design to connect to a server.
type Access struct {
	server *Server
	config *mysql.Config
}

var (
	_ design.Dialed    = (*Access)(nil)
	_ design.Addressed = (*Access)(nil)
)

// Dialing implements [design.Dialed].
func (a *Access) Dialing(wrap func(design.Dial) design.Dial) any {
	config := a.config.Clone()
	config.DialFunc = wrap(config.DialFunc)
	return &Access{server: a.server, config: config}
}

// DialServer implements [design.Addressed].
func (a *Access) DialServer(ctx context.Context) (net.Conn, error) {
	return a.config.DialFunc(ctx, a.config.Net, a.config.Addr)
}

// URL implements [design.Addressed]. The clients of a server with TLS do not verify its certificate, which
// is not for that address.
func (a *Access) URL(via string) string {
	u := url.URL{Scheme: "mysql", User: url.UserPassword(a.config.User, a.config.Passwd), Host: via, Path: "/" + a.config.DBName}
	if a.config.TLSConfig != "" {
		u.RawQuery = "tls=skip-verify"
	}
	return u.String()
}

// Table creates a table, if there is none, and returns its name as SQL has it. It does not connect as the
// process does, so that no fault meets it.
func (a *Access) Table(ctx context.Context, name, columns string) (quoted string, err error) {
	return quote(name), a.server.create(ctx, name, columns)
}

// Pool returns a pool of connections, none of which is open.
func (a *Access) Pool() (*sql.DB, error) {
	connector, err := mysql.NewConnector(a.config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// with calls f with a connection of its own.
func (a *Access) with(ctx context.Context, f func(context.Context, *Conn) error) error {
	ctx, cancel := Patience(ctx)
	defer cancel()
	conn, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return f(ctx, conn)
}

// A Conn is a connection, and the only one of its pool.
type Conn struct {
	*sql.Conn
	pool *sql.DB
	net  net.Conn
}

// Connect opens a connection.
func (a *Access) Connect(ctx context.Context) (*Conn, error) {
	c := &Conn{}
	config := a.config.Clone()
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		conn, err = dial(ctx, network, address)
		c.net = conn
		return conn, err
	}
	var err error
	if c.pool, err = (&Access{config: config}).Pool(); err != nil {
		return nil, err
	}
	if c.Conn, err = c.pool.Conn(ctx); err != nil {
		return nil, errors.Join(err, c.pool.Close())
	}
	return c, nil
}

// Run sends a statement without a result.
func (c *Conn) Run(ctx context.Context, statement string) error {
	_, err := c.ExecContext(ctx, statement)
	return err
}

// Tell sends a statement with a key as its argument, whose result is true or false.
func (c *Conn) Tell(ctx context.Context, statement, key string) (yes bool, err error) {
	err = c.QueryRowContext(ctx, statement, key).Scan(&yes)
	return yes, err
}

// Abort is Close, which may be called during a request.
func (c *Conn) Abort() { c.Close() }

// Close ends the connection at once, and with it the session. A request under way fails.
func (c *Conn) Close() {
	_ = c.net.Close() // it may be broken
	_ = c.Conn.Close()
	_ = c.pool.Close()
}

// Patience bounds how long a request waits for its reply.
func Patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}

// HadNoEffect reports whether err shows that a statement was not run: it was not sent, or the server
// answered with an error, while it goes on to serve.
func HadNoEffect(err error) bool {
	var answer *mysql.MySQLError
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.As(err, &answer) && !Ended(err)
}

// Ended reports whether err says that the server has ended the session: ER_SERVER_SHUTDOWN,
// ER_CONNECTION_KILLED, or MySQL's ER_CLIENT_INTERACTION_TIMEOUT.
func Ended(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && (answer.Number == 1053 || answer.Number == 1927 || answer.Number == 4031)
}
