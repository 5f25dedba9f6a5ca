package choosing

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A Question is a question to the user. Flag is the flag that answers it, and Default the answer
// that an empty line stands for.
type Question struct {
	Flag, Text, Default string
}

// usualConditions is the answer that an empty line stands for.
const usualConditions = "outlived,pause,crash,lost-reply,cancel,script-flush"

// UsualConditions returns the conditions that count if the user names none.
func UsualConditions() []string { return strings.Split(usualConditions, ",") }

// Questions returns the questions, in their order.
func Questions() []Question {
	return []Question{
		{"if-two-hold", "If two hold the lock at once: is work done twice (waste), or is something wrong afterwards (damage)?", string(Damage)},
		{"work", "How long does the work under the lock take, usually?", "50ms"},
		{"service", "What is the lock to stand on: " + strings.Join(Services(), ", ") + "?", string(OneRedis)},
		{"waiters", "How many clients want one key at the same time?", "8"},
		{"conditions", "What can happen? Conditions, separated by commas; lockbench list conditions explains them.", usualConditions},
	}
}

// Ask asks each question unless known returns true for it, and passes the answer to set. It repeats
// a question if set returns an error. It returns an error if in ends.
func Ask(in io.Reader, out io.Writer, known func(flag string) bool, set func(flag, value string) error) error {
	lines := bufio.NewScanner(in)
	for _, q := range Questions() {
		for answered := known(q.Flag); !answered; {
			fmt.Fprintf(out, "%s [%s] ", q.Text, q.Default)
			if !lines.Scan() {
				return fmt.Errorf("--%s: no answer; hint: give the flags, as in --%s %s", q.Flag, q.Flag, q.Default)
			}
			answer := strings.TrimSpace(lines.Text())
			if answer == "" {
				answer = q.Default
			}
			err := set(q.Flag, answer)
			if answered = err == nil; !answered {
				fmt.Fprintln(out, strings.Replace(err.Error(), "; hint: ", "\nhint: ", 1))
			}
		}
	}
	return nil
}
