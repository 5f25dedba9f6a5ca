package script_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/explore/stepserver/script"
)

// A host answers every command with the same reply, and records its commands.
type host struct {
	reply    string
	calls    [][]string
	protocol int
}

func (h *host) Call(args []string) []byte {
	h.calls = append(h.calls, args)
	return []byte(h.reply)
}

func (h *host) SetProtocol(version int) { h.protocol = version }

// run runs source and returns the reply.
func run(t testing.TB, vm *script.VM, h *host, source string) string {
	t.Helper()
	s, err := script.Compile(source)
	if err != nil {
		return "-" + err.Error()
	}
	return string(vm.Run(s, h, []string{"k"}, []string{"v"}, false))
}

// inventory uses the libraries and lists everything visible.
const inventory = `
local seen, names = {}, {}
local function walk(prefix, t)
	if seen[t] then return end
	seen[t] = true
	for k, v in pairs(t) do
		local name = prefix .. tostring(k)
		table.insert(names, name .. ' ' .. type(v))
		if type(v) == 'table' then walk(name .. '.', v) end
	end
end
walk('', _G)
table.sort(names)
assert(KEYS[1] == 'k' and #KEYS == 1 and ARGV[1] == 'v' and #ARGV == 1)
assert(('x'):rep(2) == 'xx' and string.upper('a') == 'A' and math.floor(1.5) == 1 and #{1, 2} == 2)
assert(cjson.encode({1, cjson.null}) == '[1,null]' and redis.sha1hex('') == 'da39a3ee5e6b4b0d3255bfef95601890afd80709')
assert(coroutine.wrap(function() coroutine.yield(5) end)() == 5 and next({}) == nil and rawget({2}, 1) == 2)
return table.concat(names, ', ')`

// TestScriptsCannotReachEachOther runs scripts that try to leave something behind.
func TestScriptsCannotReachEachOther(t *testing.T) {
	want := run(t, script.New(), &host{}, inventory)
	if !strings.Contains(want, "redis.call function") || !strings.Contains(want, "string.format function") {
		t.Fatalf("the inventory is not complete: %q", want)
	}
	for _, source := range []string{
		"x = 1", "_G.x = 1", "_G._G._G.x = 1", "rawset(_G, 'x', 1)", "redis = nil", "redis.call = nil", "string.rep = nil",
		"table.insert(string, 1)", "table.insert(_G, 1)", "table.insert(redis, 1, 2)", "table.remove(table)", "table.sort(math)",
		"rawset(math, 'floor', nil)", "setmetatable(string, {})", "setmetatable(_G, nil)", "setmetatable(redis, {__index = {}})",
		"getmetatable('').__index = nil", "getmetatable('').__index.rep = nil", "getmetatable('').x = 1", "rawset(getmetatable(''), '__index', nil)",
		"setmetatable(getmetatable(''), {})", "setmetatable('', {})", "setmetatable(1, {})", "setmetatable(print, {})",
		"getmetatable(_G).__index = nil", "rawset(getmetatable(_G), '__newindex', nil)", "getmetatable(redis).__newindex = nil",
		"for k in pairs(_G) do rawset(_G, k, nil) end", "for k in pairs(string) do string[k] = nil end", "for k in next, math do math[k] = 1 end",
		"loadstring('x = 1')()", "loadstring('string.rep = nil')()", "load(function() return nil end)()", "coroutine.wrap(function() x = 1 end)()",
		"setfenv(1, {})", "getfenv(0).x = 1", "debug.getmetatable('').__index = nil", "newproxy(true)", "require('os')", "module('x')",
		"KEYS = {}", "KEYS[1] = 'other' ARGV[1] = nil", "KEYS[2] = 'more'", "rawset(KEYS, 1, nil)", "setmetatable(KEYS, {__index = function() return 1 end})",
		"cjson.null = 1", "setmetatable(cjson.null, {})", "bit.band = nil",
		"error('x')", "error({err = 'x'})", "error({})", "error()", "local function f() return f() + 1 end f()", "local function f(n) return f(n .. 'x') + 1 end f('')",
		"coroutine.wrap(function() error('x') end)()", "c = coroutine.create(function() coroutine.yield() end)",
		"local c = coroutine.create(function() coroutine.yield() end) coroutine.resume(c)", "coroutine.yield()",
		"xpcall(function() error('x') end, function() error('y') end)", "pcall(error)", "pcall(pcall, error)", "return pcall(redis.call)",
		"local t = {} t[t] = t return t", "local t = {} t[1] = t return t", "local t = {} t[1] = t return cjson.encode(t)", "string.gsub = nil", "tostring = nil", "local _ENV = {}", "os.exit(1)", "io.write('x')", "dofile('x')",
		"redis.setresp(3)", "table.concat({{}})", "string.rep()", "('x').y.z = 1", "return #nil", "collectgarbage()",
	} {
		t.Run(source, func(t *testing.T) {
			vm, h := script.New(), &host{reply: ":1\r\n"}
			run(t, vm, h, source)
			run(t, vm, h, "return pcall(function() "+source+" end)")
			if diff := cmp.Diff(run(t, vm, &host{}, inventory), want); diff != "" {
				t.Errorf("inventory afterwards (-got +want):\n%s", diff)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ lua, want string }{
		{"'a'", "a"}, {"1", "1"}, {"-1", "-1"}, {"0", "0"}, {"2.5", "2.5"}, {"0.1", "0.10000000000000001"}, {"1/3", "0.33333333333333331"},
		{"1e15", "1000000000000000"}, {"2^53", "9007199254740992"}, {"123456789012345678", "1.2345678901234568e+17"}, {"1e20", "1e+20"},
		{"1e-7", "9.9999999999999995e-08"}, {"1/0", "inf"}, {"-1/0", "-inf"}, {"0/0", "-nan"}, {"1700000000000.5", "1700000000000.5"},
	} {
		t.Run(c.lua, func(t *testing.T) {
			h := &host{reply: "+OK\r\n"}
			run(t, script.New(), h, "redis.call('x', "+c.lua+")")
			if diff := cmp.Diff(h.calls, [][]string{{"x", c.want}}); diff != "" {
				t.Errorf("called (-got +want):\n%s", diff)
			}
		})
	}
}

func TestReplies(t *testing.T) {
	describe := `
local function describe(v)
	if type(v) ~= 'table' then return type(v) .. ' ' .. tostring(v) end
	local parts = {}
	for k, e in pairs(v) do table.insert(parts, tostring(k) .. '=' .. describe(e)) end
	table.sort(parts)
	return '{' .. table.concat(parts, ', ') .. '}'
end
return describe(redis.pcall('x'))`
	for _, c := range []struct{ reply, want string }{
		{"+OK\r\n", "{ok=string OK}"},
		{"-ERR x\r\n", "{err=string ERR x}"},
		{"-ERR unknown command 'x', with\r\n", "{err=string ERR Unknown Redis command called from script}"},
		{":-5\r\n", "number -5"},
		{"$-1\r\n", "boolean false"},
		{"*-1\r\n", "boolean false"},
		{"$0\r\n\r\n", "string "},
		{"$4\r\na\r\nb\r\n", "string a\r\nb"},
		{"*3\r\n:1\r\n$-1\r\n*1\r\n+a\r\n", "{1=number 1, 2=boolean false, 3={1={ok=string a}}}"},
		{"*2\r\n:1\r\n-MY err\r\n", "{1=number 1, 2={err=string MY err}}"},
		{"%1\r\n$1\r\na\r\n:1\r\n", "{map={a=number 1}}"},
		{"~1\r\n$1\r\na\r\n", "{set={a=boolean true}}"},
		{",1.5\r\n", "{double=number 1.5}"},
		{"#t\r\n", "boolean true"},
		{"_\r\n", "nil nil"},
		{"", "boolean false"},
		{"$9\r\nshort", "boolean false"},
		{"*9\r\n:1\r\n", "{1=number 1}"},
	} {
		t.Run(c.reply, func(t *testing.T) {
			got := run(t, script.New(), &host{reply: c.reply}, describe)
			_, got, _ = strings.Cut(got, "\r\n")
			if got != c.want+"\r\n" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLines checks the places of errors.
func TestLines(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"\n\nerror('x')", "ERR user_script:3: x script: SHA, on @user_script:3."},
		{"local function f()\nreturn redis.call('x')\nend\nreturn f() + 1", "MY err script: SHA, on @user_script:2."},
		{"#!lua\nerror('x')", "ERR user_script:2: x script: SHA, on @user_script:2."},
		{"coroutine.wrap(function()\nerror('x') end)()", "ERR user_script:2: x script: SHA, on @user_script:1."},
	} {
		t.Run(c.source, func(t *testing.T) {
			got := run(t, script.New(), &host{reply: "-MY err\r\n"}, c.source)
			got = strings.ReplaceAll(strings.Trim(got, "-\r\n"), script.SHA(c.source), "SHA")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestRandomNumbers compares with Redis's numbers from its start on.
func TestRandomNumbers(t *testing.T) {
	vm := script.New()
	for range 2 {
		equal := run(t, vm, &host{}, "math.randomseed(5) return {math.random(100), math.random(100), math.random(5,10)}")
		if want := "*3\r\n:53\r\n:28\r\n:9\r\n"; equal != want {
			t.Errorf("got %q, want %q", equal, want)
		}
	}
	before := vm.State()
	run(t, vm, &host{}, "return math.random()")
	if vm.State() == before {
		t.Error("a number was drawn, and the state is the same")
	}
	vm.Reset()
	if got := vm.State(); got != script.FirstState {
		t.Errorf("state %x after Reset, want %x", got, uint64(script.FirstState))
	}
}

// FuzzReplies: for every reply to a command the script gets a value.
func FuzzReplies(f *testing.F) {
	for _, reply := range []string{"+OK\r\n", "*2\r\n$1\r\na\r\n%1\r\n:1\r\n_\r\n", "$-1\r\n", "*1000000000\r\n", "~2\r\n,x\r\n#f\r\n", "*1\r\n*1\r\n*1\r\n:1\r\n"} {
		f.Add(reply)
	}
	vm := script.New()
	s, err := script.Compile("return redis.pcall('x')")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		for _, resp3 := range []bool{false, true} {
			got := string(vm.Run(s, &host{reply: reply}, nil, nil, resp3))
			if !strings.HasSuffix(got, "\r\n") {
				t.Errorf("%q was returned as %q", reply, got)
			}
		}
	})
}

// FuzzJSON: decoded values can be encoded, and decoded again to the same.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2,{"b":null}],"c":"x\u0000\n/"}`, `[]`, `1e400`, `"\ud800"`, `[[[[]]]]`, `{"1":2}`, `tru`, `1 2`, `-0.5e-3`} {
		f.Add(text)
	}
	vm := script.New()
	s, err := script.Compile(`
local first = cjson.encode(cjson.decode(ARGV[1]))
local second = cjson.encode(cjson.decode(first))
return first == second or {first, second}`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := string(vm.Run(s, &host{}, nil, []string{text}, false))
		if !strings.HasPrefix(got, "-") && got != ":1\r\n" {
			t.Errorf("%q is encoded as %q", text, got)
		}
	})
}
