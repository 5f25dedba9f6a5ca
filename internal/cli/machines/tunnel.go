package machines

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/relay"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// A tunnel lets agents on other machines reach services that listen on the coordinator's machine only. An agent opens
// a connection for each of its clients', and names itself by the token and the service by its number.
type tunnel struct {
	*relay.Relay
	hello  string
	socket *abstractSocket // nil if agents on this machine use the tunnel as others do

	mu sync.Mutex
	to []design.Addressed
}

// A way is the part of an order that leads to the tunnel. All servers of the order are behind it, by their
// numbers, and the records after them.
type way struct {
	Host string // empty for the host of the coordinator's NATS server
	Port string
	TLS  bool `json:",omitempty"`
	// Server describes the servers that the design locks on.
	Server runinfo.Server
	// Records is the address of the guarded records, with its password; empty if they are on the first
	// server.
	Records string `json:",omitempty"`
	// Socket is the name of the coordinator's abstract socket, empty if it has none. Agents on its machine reach services
	// at their addresses there, with passwords, in the order of the tunnel's numbers; empty for a service that the tunnel
	// alone leads to.
	Socket string   `json:",omitempty"`
	There  []string `json:",omitempty"`
}

// helloLine returns the beginning of an agent's line to the tunnel. The token itself stays secret.
func helloLine(token string) string {
	sum := sha256.Sum256([]byte("tunnel " + token))
	return hex.EncodeToString(sum[:]) + " "
}

// listenAt returns the address at which the tunnel listens: the port after the one of --listen, or any.
func (c *Coordinator) listenAt() (string, error) {
	host, port, err := net.SplitHostPort(c.config.Listen)
	if err != nil {
		return "", fmt.Errorf("--listen %s: %w; hint: [HOST]:PORT, such as 10.0.0.9:4222", c.config.Listen, err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return "", fmt.Errorf("--listen %s: port %s is no number; hint: [HOST]:PORT, such as 10.0.0.9:4222", c.config.Listen, port)
	}
	if n != 0 {
		n++
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), nil
}

// openTunnel opens the tunnel, unless it is open.
func (c *Coordinator) openTunnel() error {
	if c.tunnel != nil {
		return nil
	}
	at, err := c.listenAt()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("--listen %s: agents reach the servers of this machine at the port after it: %w; hint: another --listen", c.config.Listen, err)
	}
	if c.config.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(c.config.Certificate, c.config.Key)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}})
	}
	c.tunnel = &tunnel{hello: helloLine(c.config.Token), socket: openAbstract()}
	c.tunnel.Relay = relay.Serve(listener, c.tunnel.accept)
	_, port, err := net.SplitHostPort(c.tunnel.Address())
	if err == nil {
		c.config.Say("agents on other machines reach the private servers of this one at port %s", port)
	}
	return err
}

// greeting bounds the time until an agent has named a service.
const greeting = 5 * time.Second

// accept reads an agent's line, connects to the service and answers with an empty line.
func (t *tunnel) accept(ctx context.Context, client net.Conn) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	if err := client.SetDeadline(time.Now().Add(greeting)); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(io.LimitReader(client, 128)).ReadString('\n')
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(strings.TrimSpace(line[min(len(line), len(t.hello)):]))
	if subtle.ConstantTimeCompare([]byte(line[:min(len(line), len(t.hello))]), []byte(t.hello)) != 1 || err != nil {
		return nil, errors.New("not an agent of this run")
	}
	t.mu.Lock()
	all := t.to
	t.mu.Unlock()
	if number < 0 || number >= len(all) {
		return nil, fmt.Errorf("no service %d", number)
	}
	server, err := all[number].DialServer(ctx)
	if err != nil {
		return nil, err
	}
	_, err = client.Write([]byte{'\n'})
	if err = cmp.Or(err, client.SetDeadline(time.Time{})); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

// close ends the tunnel, if it is open.
func (t *tunnel) close() error {
	if t == nil {
		return nil
	}
	t.Close()
	return t.socket.close()
}

// behind is the host in addresses of services behind a tunnel.
const behind = "coordinator:1"

// offer makes the services of a run that lockbench has started reachable for the agents.
func (c *Coordinator) offer(ctx context.Context, its *order, run *load.Config) error {
	on := run.Services.For(run.Design.ServerCount())
	if on.First().Kind() == design.External && (run.Records == nil || run.Records.Kind() == design.External) {
		return nil
	}
	if err := c.openTunnel(); err != nil {
		return err
	}
	listening, port, err := net.SplitHostPort(c.tunnel.Address())
	if err != nil {
		return err
	}
	its.Way = &way{Port: port, TLS: c.config.Certificate != "", Server: on.Info()}
	if c.door == nil {
		if its.Way.Host = listening; net.ParseIP(listening).IsUnspecified() {
			its.Way.Host = ownAddress()
		}
	}
	its.Servers = nil
	if own := c.tunnel.socket; own != nil {
		its.Way.Socket = own.name
	}
	relayed := slices.ContainsFunc(run.Faults, func(f fault.Fault) bool { return fault.Of(f.Kind).Target == fault.Network }) // over TCP
	var to []design.Addressed
	add := func(s design.Service) string {
		by := s.Reach().(design.Addressed) // else no design on it is run
		to = append(to, by)
		there := ""
		if its.Way.Socket != "" && !relayed && s.Kind() != design.External {
			there = addressThere(ctx, by)
		}
		its.Way.There = append(its.Way.There, there)
		return by.URL(behind)
	}
	for _, s := range on {
		its.Servers = append(its.Servers, add(s))
	}
	if run.Records != nil {
		its.Way.Records = add(run.Records)
	}
	c.tunnel.mu.Lock()
	defer c.tunnel.mu.Unlock()
	c.tunnel.to = to
	return nil
}

// backendServing returns the backend of an address, nil for an unknown one.
func backendServing(address string) design.Backend {
	for _, d := range impls.All() {
		if b := servers.BackendOf(&d); b.Serves(address) {
			return b
		}
	}
	return nil
}

// A reached run has the addresses of its services on the agent's machine.
type reached struct {
	servers []string
	records design.Service // nil if they are on the first server
	relays  []*relay.Relay
}

// reach opens a way to the services of an order.
func (a *Agent) reach(ctx context.Context, o order) (its *reached, err error) {
	its = &reached{servers: slices.Clone(o.Servers)}
	if o.Way == nil {
		return its, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, its.close())
		}
	}()
	here := o.Way.here(ctx)
	at := func(i int, address string) (string, error) {
		if here && i < len(o.Way.There) && leads(ctx, o.Way.There[i]) {
			return o.Way.There[i], nil
		}
		return its.by(a.dialTo(o.Way, i), address)
	}
	for i := range its.servers {
		if its.servers[i], err = at(i, its.servers[i]); err != nil {
			return its, err
		}
	}
	if o.Way.Records == "" {
		return its, nil
	}
	address, err := at(len(its.servers), o.Way.Records)
	if err != nil {
		return its, err
	}
	b := backendServing(o.Way.Records)
	if b == nil {
		return its, errors.New("the records are on an unknown service; hint: the same lockbench on all machines")
	}
	opened, err := b.Open(ctx, []string{address}, 1)
	if len(opened) > 0 {
		its.records = opened[0]
	}
	return its, err
}

// by returns the address of a service by a relay of its own.
func (r *reached) by(dial relay.Dial, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the order has an unreadable address") // err has the password
	}
	its, err := relay.Listen(dial, nil)
	if err != nil {
		return "", err
	}
	r.relays = append(r.relays, its)
	u.Host = its.Address()
	return u.String(), nil
}

func (r *reached) close() (err error) {
	if r.records != nil {
		err = r.records.Close()
	}
	for _, by := range r.relays {
		by.Close()
	}
	return err
}

// dialTo returns a function that connects to service i at the other end of a tunnel.
func (a *Agent) dialTo(to *way, i int) relay.Dial {
	host := to.Host
	if u, err := url.Parse(a.URL); host == "" && err == nil {
		host = u.Hostname()
	}
	return func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, greeting)
		defer cancel()
		plain, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, to.Port))
		if err != nil {
			return nil, err
		}
		defer context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Unix(1, 0)) })()
		conn := plain
		if to.TLS {
			config := a.tls.Clone()
			config.ServerName = host
			conn = tls.Client(plain, config)
		}
		_, err = fmt.Fprintf(conn, "%s%d\n", helloLine(a.Token), i)
		if err == nil {
			_, err = io.ReadFull(conn, make([]byte, 1))
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}
