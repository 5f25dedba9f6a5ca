package servers

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// isReply reports whether err is a server's error reply that begins with one of
// codes, or any error reply if none is given.
func isReply(err error, codes ...string) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	for _, code := range codes {
		if strings.HasPrefix(reply.Error(), code) {
			return true
		}
	}
	return len(codes) == 0
}

// isUnknownCommand reports whether the server lacks the command or has renamed it.
func isUnknownCommand(err error) bool { return isReply(err, "ERR unknown command") }

// unlessReply returns err, or nil if err is an error reply of the server.
func unlessReply(err error) error {
	if isReply(err) {
		return nil
	}
	return err
}
