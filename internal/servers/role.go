package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// dialPrimary connects to a server that says itself that it is a primary.
func dialPrimary(ctx context.Context, network, addr string, opt *redis.Options) (net.Conn, error) {
	conn, err := redis.NewDialer(opt)(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	role, err := roleOf(ctx, conn, opt)
	if err == nil && role != "" && role != "master" {
		err = fmt.Errorf("it says that it is a %.20q", role)
	}
	if err != nil {
		_ = conn.Close() // of no more use
		return nil, err
	}
	return steady(conn, slackOf(opt)), nil
}

// roleOf asks the server at the other end of a new connection for its role, such as master or slave: empty
// where this user may not ask. The connection can be used as if nothing had been sent, but that it
// may be logged in.
func roleOf(ctx context.Context, conn net.Conn, opt *redis.Options) (string, error) {
	until := time.Now().Add(opt.DialTimeout)
	if deadline, has := ctx.Deadline(); has && deadline.Before(until) {
		until = deadline
	}
	if err := conn.SetDeadline(until); err != nil {
		return "", err
	}
	replies := bufio.NewReader(conn)
	if opt.Password != "" {
		login := []string{"AUTH", opt.Username, opt.Password}
		if opt.Username == "" {
			login = []string{"AUTH", opt.Password}
		}
		// A login that fails does so again for the client, which says so.
		if _, err := ask(conn, replies, login...); err != nil && !errors.Is(err, errReply) {
			return "", err
		}
	}
	role, err := ask(conn, replies, "ROLE")
	if errors.Is(err, errReply) {
		role, err = "", nil
	}
	return role, errors.Join(err, conn.SetDeadline(time.Time{}))
}

var errReply = errors.New("it answers")

// ask sends a command and returns the first text of its reply. Its error wraps errReply when it is the
// server's.
func ask(conn io.Writer, replies *bufio.Reader, words ...string) (string, error) {
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(conn, command.String()); err != nil {
		return "", err
	}
	return firstText(replies)
}

// firstText reads a reply to its end and returns the first text in it. What it takes in is bounded: the longest
// reply is that of a primary with its replicas.
func firstText(replies *bufio.Reader) (first string, err error) {
	const most = 10_000
	var refusal error
	for due, read := 1, 0; due > 0; due, read = due-1, read+1 {
		line, err := replies.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		text := strings.TrimRight(string(line[1:]), "\r\n")
		n, _ := strconv.Atoi(text)
		switch {
		case read > most || n > most && line[0] != ':':
			return "", fmt.Errorf("%w: its reply has more than %d parts", errNotRedis, most)
		case line[0] == '*':
			due += n
			continue
		case line[0] == '$' && n < 0:
			text = ""
		case line[0] == '$':
			body := make([]byte, n+len("\r\n"))
			if _, err := io.ReadFull(replies, body); err != nil {
				return "", err
			}
			text = string(body[:n])
		case line[0] == '-':
			refusal = fmt.Errorf("%w: %s", errReply, text)
		case line[0] != '+' && line[0] != ':':
			return "", fmt.Errorf("%w: it says %.40q", errNotRedis, line)
		}
		if first == "" {
			first = text
		}
	}
	return first, refusal
}
