package stepserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errProtocol = errors.New("protocol error")

// requests parses a client's data: commands as arrays of bulk strings, or inline.
type requests struct {
	rest string // received and not parsed yet
}

// add appends received data.
func (r *requests) add(b []byte) {
	if r.rest == "" {
		r.rest = string(b)
	} else {
		r.rest += string(b)
	}
}

// next returns the next complete command, or none. The strings of a command share
// memory only with each other.
func (r *requests) next() (args []string, err error) {
	for len(args) == 0 && r.rest != "" {
		before := len(r.rest)
		args, r.rest, err = parseRequest(r.rest)
		if err != nil || len(r.rest) == before {
			return nil, err
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	return args, nil
}

// parseRequest parses one command from text. It returns text itself as the rest if
// the command is incomplete.
func parseRequest(text string) (args []string, rest string, err error) {
	line, after, whole := strings.Cut(text, "\r\n")
	if !whole {
		return nil, text, nil
	}
	if line == "" || line[0] != '*' {
		return strings.Fields(line), after, nil
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n > 1<<20 {
		return nil, text, fmt.Errorf("%w: array of length %q", errProtocol, line[1:])
	}
	args = make([]string, 0, max(n, 0))
	for range n {
		var arg string
		arg, after, whole, err = parseBulk(after)
		if err != nil || !whole {
			return nil, text, err
		}
		args = append(args, arg)
	}
	return args, after, nil
}

// parseBulk parses one bulk string from text.
func parseBulk(text string) (arg, rest string, whole bool, err error) {
	line, after, whole := strings.Cut(text, "\r\n")
	if !whole {
		return "", text, false, nil
	}
	if line == "" || line[0] != '$' {
		return "", text, false, fmt.Errorf("%w: %q instead of a bulk string", errProtocol, line)
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n < 0 || n > 512<<20 {
		return "", text, false, fmt.Errorf("%w: bulk string of length %q", errProtocol, line[1:])
	}
	if len(after) < n+2 {
		return "", text, false, nil
	}
	return after[:n], after[n+2:], true, nil
}
