package stepserver

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// A store is the embedded miniredis, without its goroutines and connections.
type store struct {
	redis  *miniredis.Miniredis
	server *server.Server
	now    time.Time
	own    *peer        // for commands of the step server itself, in database 0
	tries  selecting    // for blocking commands
	inner  selecting    // for commands called by scripts
	used   map[int]bool // databases that clients selected
	lacks  []string     // unknown commands that were sent, ten at most
}

// A peer is a connection of miniredis, with its selected database. It collects the replies.
type peer struct {
	*server.Peer
	reply []byte
}

// A selecting peer belongs to the step server, which uses it with several databases.
type selecting struct {
	*peer
	db int
}

func newPeer() *peer {
	p := &peer{}
	p.Peer = server.NewPeer(bufio.NewWriterSize(p, 256))
	return p
}

// Write collects a reply; it is called by the writer in Peer.
func (p *peer) Write(b []byte) (int, error) {
	p.reply = append(p.reply, b...)
	return len(b), nil
}

func newStore() (*store, error) {
	m := miniredis.NewMiniRedis()
	// Dial starts it without a port; the connection itself is not used.
	first, err := m.Dial()
	if err != nil {
		return nil, fmt.Errorf("start embedded server: %w", err)
	}
	if err := first.Close(); err != nil {
		return nil, fmt.Errorf("start embedded server: %w", err)
	}
	s := &store{redis: m, server: m.Server(), own: newPeer(), tries: selecting{peer: newPeer()}, inner: selecting{peer: newPeer()}, used: map[int]bool{0: true}}
	m.Seed(1)
	s.now = time.Now().UTC()
	m.SetTime(s.now)
	m.ClockTTL(true)
	return s, nil
}

// close ends miniredis. A panic in a command leaves miniredis locked for ever; then close does
// nothing, so that the panic shows instead of a deadlock.
func (s *store) close() {
	if s.redis.TryLock() {
		s.redis.Unlock()
		s.redis.Close()
	}
}

// setTime sets the server's clock to the bubble's time now. Keys expire by that clock.
func (s *store) setTime(now time.Time) {
	if now.Equal(s.now) {
		return
	}
	s.now = now.UTC()
	s.redis.SetTime(s.now)
}

// do executes one command for p. The reply is valid until p's next command.
func (s *store) do(p *peer, args []string) []byte {
	p.reply = p.reply[:0]
	s.server.Dispatch(p.Peer, args)
	p.Flush()
	return p.reply
}

// command executes one command of a client or a script. It corrects the differences between
// miniredis and Redis that locks can meet.
func (s *store) command(p *peer, spec *spec, args []string) []byte {
	switch {
	case spec.name == "TTL" && len(args) == 2:
		return s.ttl(p, args[1])
	case spec.name == "RANDOMKEY" && len(args) == 1:
		return s.someKey(p)
	case spec.unknown && !s.server.IsRegisteredCommand(args[0]):
		s.lacking(args[:1])
		return unknownCommand(args)
	}
	if at := millisAt(spec.name, args); at > 0 {
		args = throughMilli(args, at)
	}
	sent := args[0]
	args[0] = spec.name // in upper case, so that miniredis need not convert it
	reply := s.do(p, args)
	args[0] = sent
	if bytes.HasPrefix(reply, []byte("-ERR unknown subcommand")) {
		s.lacking(args)
	}
	if spec.stores && string(reply) == ":0\r\n" {
		return s.removeEmpty(p, args, reply)
	}
	if spec.unordered {
		return inOrderOfText(reply)
	}
	return reply
}

// handshakes are commands that client libraries send to every server. They ignore the errors.
var handshakes = []string{"CLIENT SETINFO", "CLIENT MAINT_NOTIFICATIONS"}

// lacking records an unknown command by its first two words at most.
func (s *store) lacking(args []string) {
	name := strings.ToUpper(strings.Join(args[:min(2, len(args))], " "))
	if !slices.Contains(handshakes, name) && !slices.Contains(s.lacks, name) && len(s.lacks) < 10 {
		s.lacks = append(s.lacks, name)
	}
}

// millisAt returns the index of an expiry given as a time of day in ms; 0 if there is none.
func millisAt(name string, args []string) int {
	from := len(args)
	switch name {
	case "PEXPIREAT":
		return min(2, len(args)-1)
	case "GETEX":
		from = 2
	case "SET":
		from = 3 // the value may be any text
	}
	for i := from; i+1 < len(args); i++ {
		if len(args[i]) == len("PXAT") && strings.EqualFold(args[i], "PXAT") {
			return i + 1
		}
	}
	return 0
}

// throughMilli returns args with the expiry at index at one ms later. A Redis key lives until the
// end of the given ms; miniredis removes it at the beginning.
func throughMilli(args []string, at int) []string {
	n, err := strconv.ParseInt(args[at], 10, 64)
	if err != nil || n <= 0 || n == math.MaxInt64 {
		return args
	}
	args = slices.Clone(args)
	args[at] = strconv.FormatInt(n+1, 10)
	return args
}

// someKey executes RANDOMKEY with a key that is always the same: miniredis picks one by the order
// of a map.
func (s *store) someKey(p *peer) []byte {
	if keys := bulks(s.do(p, []string{"KEYS", "*"})); len(keys) > 0 {
		return appendBulk(nil, keys[0])
	}
	return []byte("$-1\r\n")
}

// inOrderOfText sorts an array, which miniredis writes in the order of a map.
func inOrderOfText(reply []byte) []byte {
	if len(reply) == 0 || reply[0] != '*' && reply[0] != '~' {
		return reply
	}
	items := bulks(reply)
	slices.Sort(items)
	sorted := appendLen(nil, reply[0], len(items))
	for _, item := range items {
		sorted = appendBulk(sorted, item)
	}
	return sorted
}

// removeEmpty removes the key of an empty result, which miniredis leaves and which makes it fail
// later.
func (s *store) removeEmpty(p *peer, args []string, reply []byte) []byte {
	reply = slices.Clone(reply)
	s.do(p, []string{"DEL", args[1]})
	return reply
}

// ttl executes TTL and rounds to the nearest second; miniredis rounds down.
func (s *store) ttl(p *peer, key string) []byte {
	reply := s.do(p, []string{"PTTL", key})
	ms, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(string(reply), ":"), "\r\n"))
	if err != nil || ms < 0 {
		return reply
	}
	return appendInt(nil, (ms+500)/1000)
}

func unknownCommand(args []string) []byte {
	b := fmt.Appendf(nil, "-ERR unknown command '%.128s', with args beginning with: ", args[0])
	for _, a := range args[1:] {
		if len(b) > 200 {
			break
		}
		b = fmt.Appendf(b, "'%.128s' ", a)
	}
	return append(b, "\r\n"...)
}

// wouldQueue returns the reply of miniredis to a command within a transaction: QUEUED, or an error.
func (s *store) wouldQueue(args []string) []byte {
	if !s.server.IsRegisteredCommand(args[0]) {
		return unknownCommand(args)
	}
	s.do(s.own, []string{"MULTI"})
	answer := slices.Clone(s.do(s.own, args))
	s.do(s.own, []string{"DISCARD"})
	s.own.Resp3 = false // a HELLO takes effect at once
	return answer
}

// once executes a blocking command without waiting, as in a transaction of its own.
func (s *store) once(db int, args []string) []byte {
	s.sel(&s.tries, db)
	p := s.tries.peer
	s.do(p, []string{"MULTI"})
	if answer := s.do(p, args); string(answer) != replyQueued {
		answer = slices.Clone(answer)
		s.do(p, []string{"DISCARD"})
		return answer
	}
	return bytes.TrimPrefix(s.do(p, []string{"EXEC"}), []byte("*1\r\n"))
}

// nested executes a command called by a script.
func (s *store) nested(db int, spec *spec, args []string) []byte {
	s.sel(&s.inner, db)
	return s.command(s.inner.peer, spec, args)
}

// nestedAt records that the script itself selected a database.
func (s *store) nestedAt(db int) {
	s.inner.db = db
	s.used[db] = true
}

// sel selects a database unless it is selected.
func (s *store) sel(p *selecting, db int) {
	if p.db != db {
		s.do(p.peer, []string{"SELECT", strconv.Itoa(db)})
		p.db = db
	}
}

// lastID is the identifier of the newest entry of a stream.
func (s *store) lastID(db int, key string) string {
	entries, err := s.redis.DB(db).Stream(key)
	if err != nil || len(entries) == 0 {
		return "0-0"
	}
	return entries[len(entries)-1].ID
}

func (s *store) exists(db int, key string) bool { return s.redis.DB(db).Exists(key) }

func (s *store) flush() { s.redis.FlushAll() }
