package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// Check reports whether the server has all commands that a design needs, and whether this user
// may run them on the keys and channels of runs. Its error names the missing commands or
// permissions, and the ACL rules that add them. Only the first word of a container command
// such as "SCRIPT LOAD" counts, but for the permission. A server that cannot be asked, because
// this user may not or because it is no real Redis, passes: the run will show.
func (s *Server) Check(ctx context.Context, commands []string) error {
	if err := s.refusesOnCluster(commands); err != nil {
		return err
	}
	client := s.known()[0].single()
	defer client.Close()
	if tooOld(s.version) {
		return fmt.Errorf("server %s (%s) is too old: it lacks COMMAND, and much that designs need; hint: use Redis %d.%d.%d or newer",
			s.address, s.version, oldest[0], oldest[1], oldest[2])
	}
	var missing []string
	for _, name := range commands {
		known, err := knows(ctx, client, name)
		if err != nil {
			return explain(ctx, s, err)
		}
		known = known && !(s.Kind() == design.Embedded && slices.Contains(notEmbedded, name))
		if !known {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		hint := "use a newer server, or allow the command if it was renamed"
		if s.Kind() == design.Embedded {
			hint = "put redis-server in PATH, or name a server"
		}
		return fmt.Errorf("server %s (%s) lacks %s, which the design needs; hint: %s", s.address, s.version, strings.Join(missing, ", "), hint)
	}
	if s.kind != design.External { // our servers deny nothing
		return nil
	}
	return s.permitted(ctx, commands)
}

// notEmbedded are commands that the embedded server lacks but lists.
var notEmbedded = []string{"CLIENT TRACKING"}

// oldest is the first Redis with COMMAND INFO (2014), and so with EVALSHA and
// with SET ... NX PX too.
var oldest = [3]int{2, 8, 13}

// tooOld reports whether version, in the form of versionOf, is before oldest.
func tooOld(version string) bool {
	var v [3]int
	n, _ := fmt.Sscanf(version, "redis %d.%d.%d", &v[0], &v[1], &v[2])
	return n == len(v) && slices.Compare(v[:], oldest[:]) < 0
}

// knows asks the server whether it has a command. If the server cannot tell, the answer is
// yes.
func knows(ctx context.Context, client *redis.Client, name string) (bool, error) {
	first, _, _ := strings.Cut(name, " ")
	found, err := client.Do(ctx, "COMMAND", "INFO", first).Slice()
	if err != nil {
		return true, unlessReply(err)
	}
	return len(found) != 1 || found[0] != nil, nil
}
