package servers

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// isReply reports whether err is an error with which a server answered, that
// begins with one of codes; any, when none is given.
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

// isUnknownCommand reports whether the server does not know the command, or has
// it renamed away.
func isUnknownCommand(err error) bool { return isReply(err, "ERR unknown command") }

// unlessReply returns err, or nil when the server did answer, though with an error.
func unlessReply(err error) error {
	if isReply(err) {
		return nil
	}
	return err
}
