package legible

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHide: the password of an address is masked in each form in which a message repeats it, and
// nothing else is.
func TestHide(t *testing.T) {
	for _, c := range []struct{ given, said, want string }{
		{"redis://u:pass1@h", "server redis://u:pass1@h: lost", "server redis://u:***@h: lost"},
		{"redis://u:a@h", "server redis://u:a@h: a lock", "server redis://u:***@h: a lock"},
		{"redis://u:redis@h", `server redis://u:redis@h: no Redis; hint: redis://h`, `server redis://u:***@h: no Redis; hint: redis://h`},
		{"redis://:2000@h", "redis://:2000@h: 2000 grants/s", "redis://:***@h: 2000 grants/s"},
		{"redis://u:pass1@h", "pass123 and xpass1 pass1", "pass123 and xpass1 ***"},
		{"redis://u:p%40ss1@h", "p@ss1 p%40ss1", "*** ***"},
		{`redis://u:pa"ss1@h`, `"redis://u:pa\"ss1@h"`, `"redis://u:***@h"`},
		{"redis://h/pass1", `invalid database number: "pass1"`, `invalid database number: "***"`},
		{"redis://h/3", "database 3 of 3", "database 3 of 3"},
		{"redis://h?read_timeout=pass1", `invalid duration "pass1"`, `invalid duration "***"`},
		{"redis://h?read_timeout=5s", "read_timeout=5s 5s", "read_timeout=5s 5s"},
		{"redis://h?master_name=mymaster&addr=node2:6379", "mymaster at node2:6379", "mymaster at node2:6379"},
		{"redis://h?password=1", "redis://h?password=1: 1 lock", "redis://h?password=***: 1 lock"},
		{"--server=redis://u:pass1@h", "pass1", "***"},
		{"server: [redis://u:pass1@h, 'redis://u:pass2@h'] # two", "pass1 pass2", "*** ***"},
		{"duration: 1s\nserver: redis://u:pass1@h\n", "1s duration pass1", "1s duration ***"},
		{"file:///srv/locks@home", "file:///srv/locks@home", "file:///srv/locks@home"},
		{"unix:///srv/redis@home.sock", "/srv/redis@home.sock", "/srv/redis@home.sock"},
		{"unix://:pass1@/srv/redis.sock", "pass1 /srv/redis.sock", "*** /srv/redis.sock"},
		{"exclusion@cancel", "exclusion@cancel", "exclusion@cancel"},
		{"--fail-if=exclusion@cancel.violations>0", "exclusion@cancel", "exclusion@cancel"},
		{"--metrics=localhost:9090", "localhost:9090", "localhost:9090"},
		{"json=out/results.json", "out/results.json", "out/results.json"},
		{"https://lockbench.example/docs#anchor", "https://lockbench.example/docs", "https://lockbench.example/docs"},
		{"nothing", "nothing", "nothing"},
	} {
		t.Run(c.given, func(t *testing.T) {
			show := Hide(func(word string) bool { return word == "redis" }, c.given)
			got := Text(c.said)
			show()
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("text (-got +want):\n%s", diff)
			}
			if got := Text(c.said); got != c.said {
				t.Errorf("shown again: %q, want %q", got, c.said)
			}
		})
	}
}
