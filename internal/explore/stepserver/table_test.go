package stepserver_test

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// templates are commands to draw from: {k} is a key, {v} a value, {f} a field, {n} a
// small number, {c} a channel, {s} a script and {h} its SHA.
var templates = strings.Split(strings.TrimSpace(`
get {k}
set {k} {v}
set {k} {v} nx px 5000
set {k} {v} xx keepttl
set {k} {v} get
set {k} {v} nx get
setnx {k} {v}
setex {k} {n} {v}
getset {k} {v}
getdel {k}
getex {k}
getex {k} persist
getex {k} px 700
append {k} {v}
strlen {k}
incr {k}
decrby {k} {n}
setrange {k} 1 {v}
setrange {k} 0 ""
setbit {k} 3 1
bitop or {k} {k} {k}
mset {k} {v} {k} {v}
msetnx {k} {v} {k} {v}
mget {k} {k}
del {k}
del {k} {k}
unlink {k}
exists {k} {k}
type {k}
touch {k}
expire {k} {n}
expire {k} -1
pexpire {k} 900
pexpire {k} 800 gt
pexpire {k} 800 nx
expireat {k} 1
persist {k}
ttl {k}
pttl {k}
rename {k} {k}
renamenx {k} {k}
copy {k} {k}
copy {k} {k} replace
hset {k} {f} {v}
hsetnx {k} {f} {v}
hget {k} {f}
hgetall {k}
hdel {k} {f}
hdel {k} {f} {f}
hincrby {k} {f} {n}
hexists {k} {f}
hlen {k}
lpush {k} {v}
rpush {k} {v} {v}
lpushx {k} {v}
lpop {k}
rpop {k} {n}
llen {k}
lrange {k} 0 -1
lrem {k} 0 {v}
lset {k} 0 {v}
ltrim {k} 0 0
linsert {k} before {v} {v}
rpoplpush {k} {k}
lmove {k} {k} left right
lmpop 2 {k} {k} left
sadd {k} {v} {v}
srem {k} {v}
scard {k}
smembers {k}
sismember {k} {v}
smove {k} {k} {v}
sunionstore {k} {k} {k}
sinterstore {k} {k} {k}
sinter {k} {k}
zadd {k} {n} {v}
zadd {k} nx {n} {v}
zadd {k} xx {n} {v}
zincrby {k} {n} {v}
zrem {k} {v}
zpopmin {k}
zrange {k} 0 -1
zscore {k} {v}
zremrangebyscore {k} 0 {n}
zunionstore {k} 2 {k} {k}
zmpop 1 {k} min
keys *
dbsize
flushall
select 1
select 0
swapdb 0 1
move {k} 1
subscribe {c}
unsubscribe {c}
psubscribe {c}*
punsubscribe
publish {c} {v}
pubsub channels
pubsub numsub {c}
blpop {k} {k} 0
brpop {k} {n}
brpoplpush {k} {k} 0
blmove {k} {k} left left 0
bzpopmin {k} 0
script load {s}
script exists {h}
script flush
evalsha {h} 1 {k} {v}
eval {s} 1 {k} {v}
watch {k}
watch {k} {k}
unwatch
`), "\n")

var commuteScripts = []string{
	`return 1`,
	`return redis.call('get',KEYS[1])`,
	`return redis.call('set',KEYS[1],ARGV[1],'nx') or false`,
	`if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0`,
	`redis.call('incr',KEYS[1]) return redis.call('nope')`,
	`redis.call('publish','c1',ARGV[1]) return redis.pcall('lpush',KEYS[1],ARGV[1])`,
	`redis.call('set','b',ARGV[1]) return redis.call('pttl',KEYS[1])`,
}

// draw makes a command; a transaction is several.
func draw(r *rand.Rand) [][]string {
	if r.IntN(12) == 0 {
		all := [][]string{{"multi"}}
		for range 1 + r.IntN(3) {
			all = append(all, drawOne(r))
		}
		return append(all, []string{"exec"})
	}
	return [][]string{drawOne(r)}
}

func drawOne(r *rand.Rand) []string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	args := strings.Split(pick(templates...), " ")
	for i, a := range args {
		switch a {
		case "{k}":
			args[i] = pick("a", "b", "c")
		case "{v}":
			args[i] = pick("1", "2", "x")
		case "{f}":
			args[i] = pick("f", "g")
		case "{n}":
			args[i] = strconv.Itoa(1 + r.IntN(3))
		case "{c}", "{c}*":
			args[i] = pick("c1", "c2") + a[3:]
		case "{s}":
			args[i] = pick(commuteScripts...)
		case "{h}":
			args[i] = sha(pick(commuteScripts...))
		case `""`:
			args[i] = ""
		}
	}
	return args
}

// A table is a server with some processes of one connection each.
type table struct {
	t      *testing.T
	server *stepserver.Server
	conns  []net.Conn
}

func newTable(t *testing.T, processes int) *table {
	s, err := stepserver.New()
	if err != nil {
		t.Fatal(err)
	}
	b := &table{t: t, server: s}
	for p := range processes {
		c, err := s.Dial(p)
		if err != nil {
			t.Fatal(err)
		}
		b.conns = append(b.conns, c)
	}
	return b
}

// send puts commands that are pending.
func (b *table) send(process int, commands [][]string) {
	for _, args := range commands {
		if err := (raw{conn: b.conns[process]}).send(args); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run runs the process's pending command, and reports whether there was one.
func (b *table) run(process int) (stepserver.Effect, bool) {
	for _, c := range b.server.Pending() {
		if c.Process == process {
			return b.server.Run(c), true
		}
	}
	return stepserver.Effect{}, false
}

// heard lists the answers that every process can read now.
func (b *table) heard() (all []string) {
	for _, c := range b.conns {
		var text []byte
		buf := make([]byte, 4096)
		c.SetReadDeadline(time.Now())
		for {
			n, err := c.Read(buf)
			text = append(text, buf[:n]...)
			if err != nil {
				break
			}
		}
		all = append(all, string(text))
	}
	return all
}

// waits reports whether the process is in a blocking command.
func (b *table) waits(process int) bool {
	return slices.ContainsFunc(b.server.Blocked(), func(c *stepserver.Command) bool { return c.Process == process })
}
