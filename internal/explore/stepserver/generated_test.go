package stepserver_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

var generated = flag.Int("scripts", longtest.Times(500, 1500), "how many scripts to generate and compare")

// TestGeneratedScripts compares scripts drawn at random with miniredis' own.
func TestGeneratedScripts(t *testing.T) {
	m := miniredis.NewMiniRedis()
	t.Cleanup(m.Close)
	c, err := m.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	compareScripts(t, raw{c, bufio.NewReader(c)}, false, func(reply string) string {
		if strings.HasPrefix(reply, "-") {
			return "an error" // worded otherwise
		}
		return reply
	})
}

// TestGeneratedScriptsAreReal compares them with a real server.
func TestGeneratedScriptsAreReal(t *testing.T) {
	c := dialReal(t, servertest.Start(t))
	compareScripts(t, c, true, func(reply string) string {
		return ownError.ReplaceAllString(reply, "$1")
	})
}

// ownError finds messages of Lua itself, raised or caught, which are worded otherwise.
var ownError = regexp.MustCompile(`(?:\$\d+\r\n|-ERR )(user_script:\d+): .*`)

// compareScripts runs scripts here and there, and compares replies and all keys. With
// errors, scripts look at the messages of errors.
func compareScripts(t *testing.T, there speaker, errors bool, comparable func(string) string) {
	t.Helper()
	here := embedded(t)
	kinds := map[byte]int{}
	for seed := range uint64(*generated) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 3)), errors: errors}
		source := g.block(3) + "return " + g.value(3)
		for _, args := range [][]string{{"flushall"}, {"eval", source, "2", "a", "b", "x", "7"}, {"eval", contentsScript, "0"}} {
			got, err := here.say(args)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, source)
			}
			want, err := there.say(args)
			if err != nil {
				t.Fatalf("seed %d: there: %v\n%s", seed, err, source)
			}
			kinds[got[0]]++
			if comparable(got) != comparable(want) {
				t.Errorf("seed %d: %q\n%s\ngot  %q\nwant %q", seed, args[0], source, got, want)
			}
		}
	}
	t.Logf("replies by kind: errors %d, integers %d, strings %d, arrays %d", kinds['-'], kinds[':'], kinds['$'], kinds['*'])
	for _, kind := range []byte("-:$*") {
		if kinds[kind] < *generated/30 {
			t.Errorf("only %d of %d replies are of kind %c: nothing was tested", kinds[kind], 3**generated, kind)
		}
	}
}

// contentsScript returns all keys and their values.
const contentsScript = `
local all = redis.call('keys','*')
table.sort(all)
local out = {}
for i, k in ipairs(all) do
	local kind = redis.call('type',k).ok
	table.insert(out, k .. ':' .. kind)
	if kind == 'string' then table.insert(out, redis.call('get',k))
	elseif kind == 'list' then table.insert(out, redis.call('lrange',k,0,-1))
	elseif kind == 'hash' then
		local fields = redis.call('hkeys',k)
		table.sort(fields)
		for _, f in ipairs(fields) do table.insert(out, f .. '=' .. redis.call('hget',k,f)) end
	end
	table.insert(out, redis.call('pttl',k) > 0)
end
return out`

// A generator draws Lua.
type generator struct {
	*rand.Rand
	locals int
	errors bool
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// block is some statements; depth bounds the nesting.
func (g *generator) block(depth int) string {
	var b strings.Builder
	for range g.IntN(3) {
		b.WriteString(g.statement(depth) + "\n")
	}
	return b.String()
}

func (g *generator) statement(depth int) string {
	outer := g.locals
	defer func() { g.locals = max(outer, g.locals) }()
	if depth == 0 || g.IntN(3) == 0 {
		value := g.value(depth)
		g.locals++
		defer func() { outer = g.locals }()
		return fmt.Sprintf("local v%d = %s", g.locals, value)
	}
	nested := func() string {
		before := g.locals
		defer func() { g.locals = before }()
		return g.block(depth - 1)
	}
	switch g.IntN(6) {
	case 0: // select hides that the condition may be constant: gopher-lua fails with false
		return fmt.Sprintf("if select(1, %s) then\n%s else\n%s end", g.value(depth-1), nested(), nested())
	case 1:
		return fmt.Sprintf("for i = 1, %d do\n%s end", g.IntN(4), nested())
	case 2:
		return fmt.Sprintf("for i, e in ipairs(%s) do\n%s end", g.table(depth-1), nested())
	case 3:
		return fmt.Sprintf("if select(1, %s) then return %s end", g.value(depth-1), g.value(depth-1))
	case 4:
		return fmt.Sprintf("pcall(function()\n%s end)", nested())
	}
	return g.call(depth - 1)
}

func (g *generator) value(depth int) string {
	if depth == 0 {
		return g.pick("KEYS[1]", "KEYS[2]", "ARGV[1]", "ARGV[2]", "'x'", "'5'", "3", "-2", "2.5", "0", "true", "false", "nil", "#KEYS", g.local())
	}
	a, b := g.value(depth-1), g.value(depth-1)
	switch g.IntN(14) {
	case 0:
		return fmt.Sprintf("tostring(tonumber(%s))", a)
	case 1:
		return fmt.Sprintf("tonumber(%s)", a)
	case 2:
		return fmt.Sprintf("(%s == %s)", a, b)
	case 3:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("and", "or"), b)
	case 4:
		return fmt.Sprintf("(not %s)", a)
	case 5:
		return fmt.Sprintf("(%s .. %s)", a, b)
	case 6:
		return fmt.Sprintf("(tonumber(%s) %s tonumber(%s))", a, g.pick("+", "-", "*", "<", "<="), b)
	case 7, 8:
		return g.table(depth - 1)
	}
	if !g.errors {
		return g.call(depth - 1)
	}
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("select(2, pcall(function() return %s end))", a)
	case 1:
		return fmt.Sprintf("redis.%s(%s)", g.pick("error_reply", "status_reply", "sha1hex"), a)
	case 2:
		return fmt.Sprintf("redis.pcall(%s)", g.command(depth-1))
	}
	return g.call(depth - 1)
}

func (g *generator) local() string {
	if g.locals == 0 {
		return "1"
	}
	return fmt.Sprintf("v%d", 1+g.IntN(g.locals))
}

func (g *generator) table(depth int) string {
	if depth <= 0 {
		if g.errors && g.IntN(5) == 0 {
			return "{err='MY err'}"
		}
		return g.pick("{}", "KEYS", "ARGV", "{1,2}", "{'a',false,'b'}", "{1,nil,2}", "{ok='fine'}", "{a=1}")
	}
	return fmt.Sprintf("{%s, %s}", g.value(depth-1), g.value(depth-1))
}

func (g *generator) call(depth int) string { return fmt.Sprintf("redis.call(%s)", g.command(depth)) }

// command is the arguments of a call; values of other types than strings and numbers
// are errors, and drawn now and then.
func (g *generator) command(depth int) string {
	c := g.pick("'get',K", "'set',K,V", "'SET',K,V,'nx','px',5000", "'del',K", "'incr',K", "'incrby',K,V", "'exists',K", "'pexpire',K,9000",
		"'hset',K,'f',V", "'hget',K,'f'", "'hincrby',K,'f',1", "'hgetall',K", "'lpush',K,V", "'lpop',K", "'lrange',K,0,-1", "'rpush',K,V,'y'",
		"'type',K", "'publish','c',V", "'mget','a','b'", "'append',K,V", "'ttl',K", "'persist',K", "'echo',V")
	if g.errors && g.IntN(12) == 0 {
		c = g.pick("'nope'", "'get'", "'multi'", "K", "'wait',0,0", "'set',K,V,'bad'")
	}
	c = strings.ReplaceAll(c, "K", g.pick("KEYS[1]", "KEYS[2]"))
	value := g.pick("ARGV[1]", "ARGV[2]", "'v'", "12", "2.5", "-1")
	if depth > 0 && g.IntN(3) == 0 {
		value = g.value(depth - 1)
	}
	return strings.ReplaceAll(c, "V", value)
}
