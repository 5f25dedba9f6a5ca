package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Backend is the backend of designs on PostgreSQL.
type Backend struct {
	// Pooled puts a private PgBouncer between the designs and the server, which is private then.
	Pooled bool
}

// Name implements [design.Backend].
func (b Backend) Name() string {
	if b.Pooled {
		return "postgres-pooled"
	}
	return "postgres"
}

// Offers implements [design.Backend].
func (b Backend) Offers() design.Service {
	if b.Pooled {
		return &Server{version: "PostgreSQL behind PgBouncer"}
	}
	return &Server{version: "PostgreSQL"}
}

// Serves implements [design.Backend].
func (b Backend) Serves(address string) bool {
	return !b.Pooled && (strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://"))
}

// Missing implements [design.Installed].
func (b Backend) Missing() error {
	err := Missing()
	if err == nil && b.Pooled {
		_, err = findPooler()
	}
	return err
}

// Open implements [design.Backend].
func (b Backend) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	start := Start
	if b.Pooled {
		start = StartPooled
	}
	return backend.Open(ctx, addresses, n, Connect, start)
}

// A Server is one PostgreSQL that answered when lockbench connected to it or started it. Its methods
// are safe for concurrent use.
type Server struct {
	kind, version, address string
	config                 *pgx.ConnConfig
	own                    *private // nil for a server of the user's
	pooler                 *pooler  // between the designs and the server, if it is not nil

	created backend.Created // prefixes with a schema
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
	_ design.Replicator   = (*Server)(nil)
)

const (
	dialTimeout = 2 * time.Second
	// patience is how long a request waits for its reply: longer than a fault keeps a server silent.
	patience = 5 * time.Second
)

// newServer returns a server that nobody has connected to.
func newServer(kind, address string) (*Server, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil { // its text has no password
		return nil, fmt.Errorf("server: %w; hint: postgres://USER:PASSWORD@HOST:PORT/DATABASE", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	s := &Server{kind: kind, config: config}
	s.address = fmt.Sprintf("postgres://%s/%s", net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), config.Database)
	return s, nil
}

// Connect connects to a server of the user's.
func Connect(ctx context.Context, address string) (*Server, error) {
	s, err := newServer(design.External, address)
	if err != nil {
		return nil, err
	}
	version, err := s.direct().ask(ctx, "show server_version")
	if err != nil {
		return nil, fmt.Errorf("server %s: %w; hint: does it run there, and may this user connect from here?", s.address, err)
	}
	s.version = "postgresql " + version
	return s, nil
}

// Kind implements [design.Service].
func (s *Server) Kind() string { return s.kind }

// Version implements [design.Service].
func (s *Server) Version() string { return s.version }

// Address implements [design.Service].
func (s *Server) Address() string { return s.address }

// DSN returns the address of the server itself with user and password.
func (s *Server) DSN() string { return s.config.ConnString() }

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Endpoint implements [design.Networked].
func (s *Server) Endpoint() string {
	if network, address := networkAddress(s.reach().config); network == "tcp" {
		return address
	}
	return ""
}

// Local implements [design.Neighbour].
func (s *Server) Local() bool { return s.Endpoint() == "" || servers.IsLoopback(s.Endpoint()) }

// Reach implements [design.Service].
func (s *Server) Reach() any { return s.reach() }

func (s *Server) reach() *Access {
	if s.pooler != nil {
		return &Access{server: s, config: s.pooler.front.config}
	}
	return &Access{server: s, config: s.config}
}

// ourName is the application_name of lockbench's own sessions.
const ourName = "lockbench"

// direct returns the means to connect to the server itself, for what lockbench asks for.
func (s *Server) direct() *Access {
	config := s.config.Copy()
	config.RuntimeParams["application_name"] = ourName
	return &Access{server: s, config: config}
}

// Check implements [design.Service]: a run has a schema of its own.
func (s *Server) Check(ctx context.Context, _ []string) error {
	may, err := s.direct().ask(ctx, "select has_database_privilege(current_database(), 'CREATE')::text")
	if err == nil && may != "true" {
		err = fmt.Errorf("user %s may not create a schema in database %s, and a run has one of its own; hint: GRANT CREATE ON DATABASE %[2]s TO %[1]s",
			s.config.User, s.config.Database)
	}
	return err
}

// Ping implements [design.Service].
func (s *Server) Ping(ctx context.Context) error {
	_, err := s.reach().ask(ctx, "select ''")
	return err
}

// Ask implements [design.Prompt]. It asks the server itself, since a pooler answers when a session is idle.
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	return backend.Asked(s.direct().Connect, func(ctx context.Context, c *Conn) error { return c.Ping(ctx) }, (*Conn).Close)
}

// schemaOf returns the name of the schema for a prefix.
func schemaOf(prefix string) string { return strings.TrimSuffix(prefix, ":") }

// creating is the key of the lock under which a schema is created, since "if not exists" fails when two sessions create
// one at the same time.
const creating = 0x6c6f636b62656e63

// create creates the schema of a prefix with its tables, unless another machine has, and returns its quoted name.
func (s *Server) create(ctx context.Context, prefix string) (string, error) {
	name := pgx.Identifier{schemaOf(prefix)}.Sanitize()
	create := func(ctx context.Context, conn *Conn) error {
		_, err := conn.PgConn().Exec(ctx, fmt.Sprintf(`
			select pg_advisory_xact_lock(%[2]d);
			create schema if not exists %[1]s;
			create table if not exists %[1]s.locks (key text primary key, token text not null, fence bigint not null, expires_at timestamptz not null);
			create table if not exists %[1]s.records (key text primary key, value bigint not null, version bigint not null, fence bigint not null)`, name, creating)).ReadAll()
		return err
	}
	if err := s.created.Once(prefix, func() error { return s.direct().with(ctx, create) }); err != nil {
		return name, fmt.Errorf("server %s: create schema %s: %w", s.address, name, err)
	}
	return name, nil
}

// Sweep implements [design.Service]: it drops the schemas, and returns the number of their rows.
func (s *Server) Sweep(ctx context.Context, prefix string) (removed int, err error) {
	drop := func(ctx context.Context, conn *Conn) error {
		rows, err := conn.Query(ctx, "select nspname from pg_namespace where nspname = $1 or starts_with(nspname, $2)", schemaOf(prefix), prefix)
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, name := range names {
			n, counted := entriesOf(ctx, conn, name)
			_, dropped := conn.Exec(ctx, "drop schema "+pgx.Identifier{name}.Sanitize()+" cascade")
			removed, err = removed+n, errors.Join(err, counted, dropped)
		}
		return err
	}
	err = s.created.Sweep(prefix, func() error { return s.direct().with(ctx, drop) })
	return removed, err
}

// Runs implements [design.Listed]. PostgreSQL does not tell when a table was used.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	var all []design.RunEntries
	err := s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		rows, err := conn.Query(ctx, "select nspname from pg_namespace")
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		runs := make(backend.Runs)
		for _, name := range names {
			if backend.Prefix(name+":") == "" {
				continue
			}
			n, err := entriesOf(ctx, conn, name)
			if err != nil {
				return err
			}
			runs.Add(name+":", n, 0)
		}
		all = runs.Sorted()
		for i := range all {
			all[i].Note = "PostgreSQL does not tell when they were used (--idle 0s removes them)"
		}
		return nil
	})
	return all, err
}

// entriesOf returns the number of rows in the tables of a schema.
func entriesOf(ctx context.Context, conn *Conn, schema string) (n int, err error) {
	rows, err := conn.Query(ctx, "select tablename from pg_tables where schemaname = $1", schema)
	if err != nil {
		return 0, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, table := range tables {
		var rows int
		err = errors.Join(err, conn.QueryRow(ctx, "select count(*) from "+pgx.Identifier{schema, table}.Sanitize()).Scan(&rows))
		n += rows
	}
	return n, err
}

// Close implements [design.Service].
func (s *Server) Close() (err error) {
	if s.own == nil {
		return nil
	}
	if s.pooler != nil {
		err = s.pooler.Close()
	}
	return errors.Join(err, s.own.Close())
}

// An Access is the means of a process of a design to connect to a server.
type Access struct {
	server *Server
	config *pgx.ConnConfig
}

var (
	_ design.Dialed    = (*Access)(nil)
	_ design.Addressed = (*Access)(nil)
)

// Dialing implements [design.Dialed].
func (a *Access) Dialing(wrap func(design.Dial) design.Dial) any {
	config := a.config.Copy()
	config.DialFunc = wrap(design.Dial(config.DialFunc))
	return &Access{server: a.server, config: config}
}

// DialServer implements [design.Addressed].
func (a *Access) DialServer(ctx context.Context) (net.Conn, error) {
	network, address := networkAddress(a.config)
	return a.config.DialFunc(ctx, network, address)
}

// URL implements [design.Addressed]. The clients of a server with TLS do not verify its certificate, which
// is not for that address.
func (a *Access) URL(via string) string {
	mode := "disable"
	if a.config.TLSConfig != nil {
		mode = "require"
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(a.config.User, a.config.Password), Host: via, Path: "/" + a.config.Database, RawQuery: "sslmode=" + mode}
	return u.String()
}

// Schema creates the schema for a prefix, if there is none, and returns its name as SQL has it. It does
// not connect as the process does, so that no fault meets it.
func (a *Access) Schema(ctx context.Context, prefix string) (string, error) {
	return a.server.create(ctx, prefix)
}

// ask returns the one value that a query returns, on a connection of its own.
func (a *Access) ask(ctx context.Context, query string, args ...any) (value string, err error) {
	err = a.with(ctx, func(ctx context.Context, conn *Conn) error { return conn.QueryRow(ctx, query, args...).Scan(&value) })
	return value, err
}

// with calls f with a connection of its own.
func (a *Access) with(ctx context.Context, f func(context.Context, *Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return f(ctx, conn)
}

// A Conn is a connection.
type Conn struct{ *pgx.Conn }

var errNoSecond = errors.New("a connection dials once")

// Connect opens a connection.
func (a *Access) Connect(ctx context.Context) (*Conn, error) {
	config := a.config.Copy()
	dial, up := config.DialFunc, new(atomic.Bool)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if up.Load() { // to cancel a request of a connection that is closed anyway
			return nil, errNoSecond
		}
		return dial(ctx, network, address)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	up.Store(true)
	if err != nil {
		return nil, err
	}
	return &Conn{conn}, nil
}

// Run sends a statement without a result.
func (c *Conn) Run(ctx context.Context, statement string) error {
	_, err := c.Exec(ctx, statement)
	return err
}

// Tell sends a statement with a key as its argument, whose result is true or false.
func (c *Conn) Tell(ctx context.Context, statement, key string) (yes bool, err error) {
	err = c.QueryRow(ctx, statement, key).Scan(&yes)
	return yes, err
}

// Abort ends the connection during a request, which fails. Close may follow.
func (c *Conn) Abort() { _ = c.PgConn().Conn().Close() } // it may be broken

// Close ends the connection at once, and with it the session.
func (c *Conn) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.PgConn().Conn().Close() // it may be broken
	_ = c.Conn.Close(ended)       // as above
	<-c.PgConn().CleanupDone()
}

// networkAddress returns the network and the address of a server.
func networkAddress(config *pgx.ConnConfig) (network, address string) {
	return pgconn.NetworkAddress(config.Host, config.Port)
}

// Patience bounds how long a request waits for its reply.
func Patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}

// HadNoEffect reports whether err shows that a statement was not run: it was not sent, or the server
// answered with an error, while it goes on to serve.
func HadNoEffect(err error) bool {
	var answer *pgconn.PgError
	return pgconn.SafeToRetry(err) || errors.As(err, &answer) && !Ended(err)
}

// Ended reports whether err is the server's word that it has ended the session.
func Ended(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Severity == "FATAL" || answer.Severity == "PANIC")
}
