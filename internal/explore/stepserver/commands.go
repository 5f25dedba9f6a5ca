package stepserver

import (
	"slices"
	"strconv"
	"strings"
)

// A spec describes a command.
type spec struct {
	name string // upper case
	// keys returns the keys among the arguments. Keys that may be written come first.
	keys func(args []string) []string
	// dest is the number of keys that may be written: -1 for all, 0 for none.
	dest int
	// wroteNothing reports whether the reply shows that nothing was written. So does an error,
	// except for partly commands.
	wroteNothing func(args []string, reply string) bool
	// partly: the command may write before it returns an error.
	partly bool
	// unordered: the reply is in random order.
	unordered bool
	// stores: the result, a set, replaces the value of the first argument.
	stores bool
	// route is the code that executes the command.
	route route
	// script: scripts may call it.
	script bool
	// hidden: the reply depends on state that Fingerprint does not see. unseen: the command writes
	// such state.
	hidden, unseen bool
	// unknown: it is not in the table.
	unknown bool
	// rewrites: it may replace the values of any keys without naming them.
	rewrites bool
}

// A route is the code that executes a command.
type route uint8

const (
	stock        route = iota // miniredis, when the scheduler runs it
	pass                      // miniredis, at once: its time has no effect on other commands
	transaction               // the step server's MULTI, EXEC, DISCARD, WATCH, UNWATCH
	messages                  // the step server's publish and subscribe
	blocks                    // miniredis, possibly several times
	runsScript                // the step server's EVAL and EVALSHA
	scriptsCache              // the step server's SCRIPT
)

// A group is a set of commands with the same spec but for their names.
type group struct {
	names string
	spec
}

// groups has all commands of miniredis. A command that is missing here is assumed to read and write
// all keys.
var groups = []group{
	{"GET STRLEN GETRANGE GETBIT BITCOUNT BITPOS TYPE TTL PTTL EXPIRETIME PEXPIRETIME DUMP " +
		"HEXISTS HGET HGETALL HKEYS HLEN HMGET HSTRLEN HVALS HSCAN HTTL HPTTL " +
		"LINDEX LPOS LLEN LRANGE SCARD SISMEMBER SMEMBERS SMISMEMBER SSCAN " +
		"ZCARD ZCOUNT ZLEXCOUNT ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE " +
		"ZREVRANK ZSCORE ZMSCORE ZSCAN XLEN XRANGE XREVRANGE XPENDING " +
		"GEODIST GEOPOS GEORADIUS_RO GEORADIUSBYMEMBER_RO GEOSEARCH",
		spec{keys: first, script: true}},
	{"HRANDFIELD SRANDMEMBER ZRANDMEMBER", spec{keys: first, script: true, hidden: true}},
	{"EXISTS TOUCH MGET PFCOUNT", spec{keys: all, script: true}},
	{"SDIFF SINTER SUNION", spec{keys: all, unordered: true, script: true}},
	{"SINTERCARD ZINTER ZUNION", spec{keys: numbered(1, 0), script: true}},
	{"MEMORY XINFO", spec{keys: second, script: true}},
	{"OBJECT", spec{keys: second, script: true, hidden: true}},
	{"KEYS SCAN DBSIZE", spec{keys: everything, script: true}},
	{"RANDOMKEY", spec{keys: everything, script: true, hidden: true}},
	{"SET", spec{keys: first, dest: -1, wroteNothing: setRefused, script: true}},
	{"GETEX", spec{keys: first, dest: -1, wroteNothing: getexChangesNothing, partly: true, script: true}},
	{"GETDEL LPOP RPOP", spec{keys: first, dest: -1, wroteNothing: isNil, script: true}},
	{"SPOP", spec{keys: first, dest: -1, wroteNothing: isNil, script: true, hidden: true}},
	{"ZPOPMAX ZPOPMIN", spec{keys: first, dest: -1, wroteNothing: isEmpty, script: true}},
	{"SETNX EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST HSETNX HDEL LPUSHX RPUSHX LREM SADD SREM ZREM DELEX " +
		"ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE PFADD XDEL XTRIM",
		spec{keys: first, dest: -1, wroteNothing: isZero, script: true}},
	{"APPEND SETEX PSETEX SETBIT SETRANGE GETSET INCR INCRBY INCRBYFLOAT DECR DECRBY RESTORE " +
		"HSET HMSET HINCRBY HINCRBYFLOAT LINSERT LPUSH RPUSH LSET LTRIM ZADD ZINCRBY GEOADD",
		spec{keys: first, dest: -1, script: true}},
	{"HEXPIRE HPERSIST HSETEX", spec{keys: first, dest: -1, script: true, unseen: true}},
	{"XADD XACK XAUTOCLAIM XCLAIM", spec{keys: first, dest: -1, script: true}},
	{"XGROUP", spec{keys: second, dest: -1}},
	{"DEL UNLINK", spec{keys: all, dest: -1, wroteNothing: isZero, script: true}},
	{"MSET", spec{keys: pairs, dest: -1, script: true}},
	{"MSETNX", spec{keys: pairs, dest: -1, wroteNothing: isZero, script: true}},
	{"RENAME RPOPLPUSH LMOVE", spec{keys: firstTwo, dest: -1, wroteNothing: isNil, script: true}},
	{"RENAMENX SMOVE", spec{keys: firstTwo, dest: -1, wroteNothing: isZero, script: true}},
	{"LMPOP ZMPOP", spec{keys: numbered(1, 0), dest: -1, wroteNothing: isNil, script: true}},
	{"PFMERGE", spec{keys: all, dest: 1, partly: true, script: true}},
	{"SDIFFSTORE SINTERSTORE SUNIONSTORE", spec{keys: all, dest: 1, partly: true, stores: true, script: true}},
	{"ZINTERSTORE ZUNIONSTORE", spec{keys: numbered(2, 1), dest: 1, partly: true, stores: true, script: true}},
	{"BITOP", spec{keys: afterFirst, dest: 1, partly: true, script: true}},
	{"COPY", spec{keys: copied, dest: 1, wroteNothing: isZero, script: true, rewrites: true}},
	{"MOVE", spec{keys: everything, dest: -1, wroteNothing: isZero, script: true, rewrites: true}},
	{"SWAPDB", spec{keys: everything, dest: -1, script: true, rewrites: true}},
	{"GEORADIUS GEORADIUSBYMEMBER", spec{keys: everything, dest: -1, wroteNothing: storesNothing, script: true, rewrites: true}},
	{"FLUSHALL FLUSHDB", spec{keys: everything, dest: -1, script: true}},
	{"TIME COMMAND INFO CLUSTER", spec{keys: none, script: true}},
	{"WAIT", spec{keys: none}},
	{"PING ECHO SELECT", spec{keys: none, route: pass, script: true}},
	{"HELLO CLIENT AUTH QUIT", spec{keys: none, route: pass}},
	{"BLPOP BRPOP BZPOPMAX BZPOPMIN", spec{keys: allButLast, dest: -1, wroteNothing: isNil, route: blocks}},
	{"BRPOPLPUSH BLMOVE", spec{keys: firstTwo, dest: -1, wroteNothing: isNil, route: blocks}},
	{"BZMPOP", spec{keys: numbered(2, 0), dest: -1, wroteNothing: isNil, route: blocks}},
	{"XREAD", spec{keys: streams, route: blocks, script: true}},
	{"XREADGROUP", spec{keys: streams, dest: -1, wroteNothing: isNil, route: blocks, script: true}},
	{"MULTI EXEC DISCARD UNWATCH", spec{keys: none, route: transaction}},
	{"WATCH", spec{keys: all, route: transaction}},
	{"SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE", spec{keys: none, route: messages}},
	{"PUBLISH PUBSUB", spec{keys: none, route: messages, script: true}},
	{"EVAL EVALSHA EVAL_RO EVALSHA_RO", spec{keys: none, route: runsScript}},
	{"SCRIPT", spec{keys: none, route: scriptsCache}},
}

// specs has the commands by name, in upper and lower case.
var specs = func() map[string]*spec {
	index := map[string]*spec{}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.names) {
			s := g.spec
			s.name = name
			index[name], index[strings.ToLower(name)] = &s, &s
		}
	}
	return index
}()

// specOf returns the spec of the command args. An unknown command may read and write all keys.
func specOf(args []string) *spec {
	if s, known := specs[args[0]]; known {
		return s
	}
	if s, known := specs[strings.ToUpper(args[0])]; known {
		return s
	}
	return &spec{name: strings.ToUpper(args[0]), keys: everything, dest: -1, script: true,
		unknown: true, rewrites: true}
}

// Everything stands for all keys in an Effect.
const Everything = "\x00*"

var wholeKeyspace = []string{Everything}

func everything([]string) []string { return wholeKeyspace }
func none([]string) []string       { return nil }
func all(args []string) []string   { return args[1:] }
func first(args []string) []string { return args[1:min(2, len(args))] }

func second(args []string) []string     { return args[min(2, len(args)):min(3, len(args))] }
func firstTwo(args []string) []string   { return args[1:min(3, len(args))] }
func afterFirst(args []string) []string { return args[min(2, len(args)):] }
func allButLast(args []string) []string { return args[1:max(1, len(args)-1)] }

func pairs(args []string) (keys []string) {
	for i := 1; i < len(args); i += 2 {
		keys = append(keys, args[i])
	}
	return keys
}

// numbered returns a function for keys that follow their number, which is argument at. If dest is
// not zero, argument dest is a key that is written.
func numbered(at, dest int) func([]string) []string {
	return func(args []string) []string {
		if len(args) <= at {
			return nil
		}
		n, err := strconv.Atoi(args[at])
		if err != nil || n < 0 || n > len(args)-at-1 {
			return nil // miniredis returns an error
		}
		keys := args[at+1 : at+1+n]
		if dest > 0 {
			return slices.Concat(args[dest:dest+1], keys)
		}
		return keys
	}
}

// streams returns the keys of XREAD and XREADGROUP: the first half of the arguments after STREAMS.
func streams(args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "streams") })
	if at < 0 {
		return nil
	}
	rest := args[at+1:]
	return rest[:len(rest)/2]
}

// copied returns the keys of COPY, the destination first.
func copied(args []string) []string {
	if len(args) != 3 && !(len(args) == 4 && strings.EqualFold(args[3], "replace")) {
		return wholeKeyspace // into another database, or refused
	}
	return []string{args[2], args[1]}
}

func isError(reply string) bool            { return strings.HasPrefix(reply, "-") }
func isZero(_ []string, reply string) bool { return reply == ":0\r\n" }
func isNil(_ []string, reply string) bool {
	return reply == "$-1\r\n" || reply == "*-1\r\n" || reply == "_\r\n"
}
func isEmpty(_ []string, reply string) bool { return reply == "*0\r\n" || reply == "*-1\r\n" }

func getexChangesNothing(args []string, reply string) bool {
	return len(args) == 2 || isNil(args, reply)
}

func storesNothing(args []string, _ string) bool {
	return !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(strings.ToLower(a), "store") })
}

// setRefused is wroteNothing for SET. With GET a nil reply means that there was no value before,
// not that none was set.
func setRefused(args []string, reply string) bool {
	return isNil(args, reply) && !slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "get") })
}
