package servers_test

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
)

// replies answers each command with the result of answer for its words, until
// that is empty.
func replies(conn net.Conn, answer func(words []string) string) {
	r := bufio.NewReader(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		reply := answer(words)
		if reply == "" {
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// readCommand reads an array of bulk strings without line breaks in them.
func readCommand(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		if _, err := r.ReadString('\n'); err != nil { // its length
			return nil, err
		}
		if words[i], err = r.ReadString('\n'); err != nil {
			return nil, err
		}
		words[i] = strings.TrimSpace(words[i])
	}
	return words, nil
}

// dropWrites takes the pre-flight's writes and hangs up at any other.
func dropWrites(conn net.Conn) {
	replies(conn, func(words []string) string {
		if len(words) > 1 && strings.HasPrefix(words[1], "p:") {
			return ""
		}
		return basic(words)
	})
}

// oldRedis is a very old server with one key, which records its commands.
func oldRedis(asked *[]string) func(net.Conn) {
	return func(conn net.Conn) {
		replies(conn, func(words []string) string {
			name := strings.ToLower(words[0])
			*asked = append(*asked, name)
			switch name {
			case "info":
				return "$23\r\nredis_version:2.6.17\r\n\r\n\r\n"
			case "scan":
				return "*2\r\n$1\r\n0\r\n*1\r\n$3\r\np:x\r\n"
			}
			return basic(words)
		})
	}
}

// basic answers the commands of the pre-flight and knows no others.
func basic(words []string) string {
	switch strings.ToLower(words[0]) {
	case "ping":
		return "+PONG\r\n"
	case "set":
		return "+OK\r\n"
	case "del":
		return ":1\r\n"
	default:
		return "-ERR unknown command '" + words[0] + "'\r\n"
	}
}
