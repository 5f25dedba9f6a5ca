package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/serverror"
)

// Placeholders for the key and the channel in the words of a trial.
const (
	keyWord     = "\x00key"
	channelWord = "\x00channel"
)

// trials are the arguments for trying commands. The server checks the permission only if the
// number of arguments is valid. Commands without an entry are not tried.
var trials = map[string][]string{
	"DEL": {keyWord}, "UNLINK": {keyWord}, "EXISTS": {keyWord}, "TYPE": {keyWord},
	"GET": {keyWord}, "SET": {keyWord, "1", "PX", "1000"}, "SETNX": {keyWord, "1"}, "GETSET": {keyWord, "1"},
	"GETDEL": {keyWord}, "GETEX": {keyWord}, "GETRANGE": {keyWord, "0", "1"}, "MGET": {keyWord}, "MSET": {keyWord, "1"},
	"MSETNX": {keyWord, "1"}, "SETEX": {keyWord, "1", "1"}, "PSETEX": {keyWord, "1000", "1"}, "INCR": {keyWord}, "DECR": {keyWord},
	"EXPIRE": {keyWord, "1"}, "PEXPIRE": {keyWord, "1000"}, "EXPIREAT": {keyWord, "1"}, "PEXPIREAT": {keyWord, "1"},
	"TTL": {keyWord}, "PTTL": {keyWord}, "PERSIST": {keyWord},
	"HGET": {keyWord, "f"}, "HGETALL": {keyWord}, "HSET": {keyWord, "f", "1"}, "HSETNX": {keyWord, "f", "1"}, "HDEL": {keyWord, "f"},
	"HEXISTS": {keyWord, "f"}, "HINCRBY": {keyWord, "f", "1"}, "HMSET": {keyWord, "f", "1"},
	"LPUSH": {keyWord, "1"}, "RPUSH": {keyWord, "1"}, "ZADD": {keyWord, "1", "1"}, "SADD": {keyWord, "1"},
	"EVAL": {"return 0", "1", keyWord}, "EVALSHA": {strings.Repeat("0", 40), "1", keyWord},
	"SCRIPT LOAD": {"return 0"}, "SCRIPT EXISTS": {strings.Repeat("0", 40)}, "TIME": {},
	"PUBLISH": {channelWord, "1"}, "SUBSCRIBE": {channelWord}, "UNSUBSCRIBE": {channelWord},
	"CLIENT TRACKING": {"OFF"}, "HELLO": {},
	"WATCH": {keyWord}, "UNWATCH": {}, "MULTI": {}, "EXEC": {}, "DISCARD": {},
}

// alone are the commands that cannot be tried within a transaction that is never run, because
// they end or begin one.
var alone = []string{"MULTI", "EXEC", "DISCARD"}

// words returns the words for trying a command, nil if it has no trial.
func words(command, prefix string) []any {
	trial, known := trials[strings.ToUpper(command)]
	if !known {
		return nil
	}
	var all []any
	for _, word := range append(strings.Fields(command), trial...) {
		switch word {
		case keyWord:
			word = prefix + "preflight"
		case channelWord:
			word = prefix + "preflight:released"
		}
		all = append(all, word)
	}
	return all
}

// A denial lists the permissions that a user lacks, with the server's error.
type denial struct {
	commands       []string
	keys, channels bool
	said           error // the first
}

// permitted returns the reason why this user may not run all of commands on the keys and channels
// of a run, nil if the server does not tell.
func (s *Server) permitted(ctx context.Context, commands []string) error {
	for _, part := range s.known() {
		if err := part.permits(ctx, commands); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) permits(ctx context.Context, commands []string) error {
	client := s.single()
	defer client.Close()
	conn := client.Conn()
	defer conn.Close()
	var denied denial
	for _, command := range commands {
		if slices.Contains(alone, strings.ToUpper(command)) {
			denied.note(command, conn.Do(ctx, strings.ToUpper(command)).Err())
			_ = conn.Do(ctx, "DISCARD").Err() // of a MULTI; otherwise it is an error
		}
	}
	s.tryOthers(ctx, conn, commands, &denied)
	return s.explainDenial(&denied)
}

// tryOthers tries the other commands. It queues them in a transaction, which takes the same
// permissions, and does not execute it. If the user may use no transactions the commands are
// executed, on a key that is removed.
func (s *Server) tryOthers(ctx context.Context, conn *redis.Conn, commands []string, denied *denial) {
	prefix := NewPrefix()
	try := func(of func(command string) bool) {
		for _, command := range commands {
			if trial := words(command, prefix); trial != nil && of(strings.ToUpper(command)) {
				denied.note(command, conn.Do(ctx, trial...).Err())
			}
		}
	}
	queued := conn.Do(ctx, "MULTI").Err() == nil
	try(func(command string) bool {
		return !slices.Contains(alone, command) && !strings.HasSuffix(command, "SUBSCRIBE")
	})
	if !queued && conn.Do(ctx, "DEL", prefix+"preflight").Err() != nil {
		_ = conn.Do(ctx, "PEXPIRE", prefix+"preflight", 1000).Err()
	}
	// They come last, because a subscribed connection can do nothing else.
	try(func(command string) bool { return strings.HasSuffix(command, "SUBSCRIBE") })
	if queued {
		_ = conn.Do(ctx, "DISCARD").Err() // closing the connection does the same
	}
}

// note records the answer to a trial.
func (d *denial) note(command string, err error) {
	refusal := serverror.RefusalOf(err)
	if refusal.Code != serverror.NoPerm {
		return
	}
	if d.said == nil {
		d.said = err
	}
	switch text := refusal.Text; {
	case strings.Contains(text, "channel"):
		d.channels = true
	case strings.Contains(text, " key"):
		d.keys = true
	default:
		d.commands = append(d.commands, strings.ToUpper(command))
	}
}

// explainDenial names the missing permissions, and the ACL rules that add them.
func (s *Server) explainDenial(d *denial) error {
	if d.said == nil {
		return nil
	}
	user := s.options.Username
	if user == "" {
		user = "default"
	}
	var lacks, rules []string
	if len(d.commands) > 0 {
		lacks = append(lacks, "run "+strings.Join(d.commands, ", "))
	}
	for _, command := range d.commands {
		rules = append(rules, "+"+strings.ToLower(strings.ReplaceAll(command, " ", "|")))
	}
	if d.keys {
		lacks, rules = append(lacks, "access the keys lockbench:*"), append(rules, "~lockbench:*")
	}
	if d.channels {
		lacks, rules = append(lacks, "access the channels lockbench:*"), append(rules, "&lockbench:*")
	}
	return fmt.Errorf("server %s: user %q may not %s: %w; hint: ACL SETUSER %s %s",
		s.address, user, strings.Join(lacks, " and "), s.redact(d.said), user, strings.Join(rules, " "))
}

// StoreCommands are the commands that the guarded records of a run need, under a guard.
func StoreCommands(guard lockbench.Guard) []string {
	if guard == "" || guard == lockbench.NoGuard {
		return []string{"GET", "SET"}
	}
	return []string{"GET", "SET", "EVALSHA", "EVAL"}
}

// extras are commands that locks do not need, with the loss if they are missing.
var extras = []struct {
	words []any
	lost  string
}{
	{[]any{"SCAN", "0", "COUNT", "1"}, "what runs leave under lockbench:* is not removed, and stays until it expires"},
	{[]any{"INFO", "server"}, "the version of the server is not known, nor whether it is a primary of its own"},
	{[]any{"COMMAND", "INFO", "get"}, "whether the server has all the commands of a design shows in the run"},
}

// Lost returns a sentence for each feature that runs lack because this user may not run commands
// that only lockbench needs.
func (s *Server) Lost(ctx context.Context) (all []string) {
	for _, part := range s.known() {
		for _, lost := range part.lost(ctx) {
			if !slices.Contains(all, lost) {
				all = append(all, lost)
			}
		}
	}
	return all
}

func (s *Server) lost(ctx context.Context) (all []string) {
	client := s.single()
	defer client.Close()
	for _, extra := range extras {
		err := client.Do(ctx, extra.words...).Err()
		if err != nil && (serverror.RefusalOf(err).Found() || isUnknownCommand(err)) {
			all = append(all, fmt.Sprintf("%s cannot be run: %s", extra.words[0], extra.lost))
		}
	}
	return all
}
