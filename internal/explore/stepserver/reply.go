package stepserver

import (
	"strconv"
	"strings"
)

// The reply types of RESP that the step server writes itself.

func appendBulk(b []byte, s string) []byte {
	b = append(b, '$')
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, "\r\n"...)
	b = append(b, s...)
	return append(b, "\r\n"...)
}

func appendInt(b []byte, n int) []byte {
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

func appendLen(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

const (
	replyOK      = "+OK\r\n"
	replyQueued  = "+QUEUED\r\n"
	replyAborted = "*-1\r\n"
)

// common has frequent replies, which then need no memory of their own.
var common = func() map[string]string {
	index := map[string]string{}
	for _, r := range []string{replyOK, replyQueued, replyAborted, "$-1\r\n", ":0\r\n", ":1\r\n", "*0\r\n", ""} {
		index[r] = r
	}
	return index
}()

func text(reply []byte) string {
	if r, is := common[string(reply)]; is {
		return r
	}
	return string(reply)
}

// bulks returns the strings of a reply that is an array of bulk strings.
func bulks(reply []byte) (items []string) {
	_, rest, _ := strings.Cut(string(reply), "\r\n")
	for rest != "" {
		item, after, whole, err := parseBulk(rest)
		if err != nil || !whole {
			break
		}
		items, rest = append(items, item), after
	}
	return items
}
