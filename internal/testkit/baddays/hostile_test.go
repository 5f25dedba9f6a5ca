//go:build linux

package baddays

import (
	"bufio"
	"context"
	"net"
	"path/filepath"
	"strings"
)

// hostile are servers by their answers.
var hostile = map[string]func(net.Conn){
	"a list of a billion":    always("*1000000000\r\n"),
	"a map of a billion":     always("%1000000000\r\n"),
	"a string of a gigabyte": always("$1000000000\r\n"),
	"lists in lists":         always(strings.Repeat("*1\r\n", 1<<20)),
	"control characters":     always("-ERR \x1b]0;title\x07\x1b[2J\r\n"),
	"another protocol":       always("HTTP/1.1 200 OK\r\n\r\n"),
	"nothing":                always(""),
	"a line without an end": func(c net.Conn) {
		line := []byte(strings.Repeat("+", 1<<16))
		for {
			if _, err := c.Write(line); err != nil {
				return
			}
		}
	},
	"well at first": func(c net.Conn) {
		r := bufio.NewReader(c)
		for n := 0; ; n++ {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			reply := "+OK\r\n"
			if n > 40 {
				reply = "*1000000000\r\n"
			}
			if strings.HasPrefix(line, "*") {
				if _, err := c.Write([]byte(reply)); err != nil {
					return
				}
			}
		}
	},
}

// always answers every request with text.
func always(text string) func(net.Conn) {
	return func(c net.Conn) {
		buffer := make([]byte, 1<<12)
		for {
			if _, err := c.Read(buffer); err != nil {
				return
			}
			if _, err := c.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// hostile lets verbs meet servers with invalid answers.
func (b *bench) hostile(ctx context.Context) error {
	r := b.table.row("a hostile server")
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	for name, serve := range hostile {
		dir, err := b.sub("hostile")
		if err != nil {
			return err
		}
		socket := filepath.Join(dir, "socket")
		l, err := net.Listen("unix", socket)
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					serve(c)
				}()
			}
		}()
		url := "unix://" + socket
		for _, args := range [][]string{
			{"run", "--design", lock, "--duration", "1s", "--server", url},
			{"run", "--design", "redislock/obtain,rueidislock/polling", "--duration", "1s", "--server", url},
			{"run", "--design", lock, "--clients", "1,2", "--keys", "1", "--duration", "1s", "--server", url},
			{"compare", "--run", "2", lock, lock, "--duration", "1s", "--server", url},
			{"limit", "ttl", lock, "--server", url},
			{"clean", "--server", url},
		} {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t := trial{args: args, temp: temp}
			o := b.run(ctx, t)
			r.count(t, o)
			switch {
			case o.exit == 0:
				r.note(&r.passed, "%s: lockbench %s: %.500s", name, strings.Join(args, " "), o.out)
			case o.exit == 1:
				r.note(&r.accused, "%s: lockbench %s: %.1500s", name, strings.Join(args, " "), o.out)
			case strings.ContainsAny(o.out, "\x1b\x07"):
				r.note(&r.broken, "%s: control characters in %q", name, o.out)
			}
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}
