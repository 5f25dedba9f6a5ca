package render

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestPrinterCommand(t *testing.T) {
	const sha = "c51f7f5ea71e3d8bde9f4a7a8e5a2f5a6f0d4d1c"
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"plain", []string{"set", "job-1", "1", "px", "2000", "nx"}, "SET job-1 1 px 2000 nx"},
		{"base64", []string{"SET", "job-1", "Ab3dE5gH1jK2mN4pQ6sT8v", "NX"}, "SET job-1 token#1 NX"},
		{"hex", []string{"SET", "job-1", "9f86d081884c7d659a2feaa0c55ad015"}, "SET job-1 token#1"},
		{"hex of few changes", []string{"SET", "job-1", "35adbccbbb8542c99820049184741b79"}, "SET job-1 token#1"},
		{"number of 32 digits", []string{"GET", "00000000000000000000000000000001"}, "GET 00000000000000000000000000000001"},
		{"uuid and time", []string{"SET", "job-1", "123e4567-e89b-42d3-a456-426614174000.946684800313"}, "SET job-1 token#1.946684800313"},
		{"the same again", []string{"MSET", "a", "Ab3dE5gH1jK2mN4pQ6sT8v", "b", "zY9xW8vU7tS6rQ5pO4nM3l", "c", "Ab3dE5gH1jK2mN4pQ6sT8v"}, "MSET a token#1 b token#2 c token#1"},
		{"long names", []string{"GET", "hash-reentrant:customers-of-the-shop"}, "GET hash-reentrant:customers-of-the-shop"},
		{"binary", []string{"SETNX", "job-1", "\x00\x00\x01\xff"}, `SETNX job-1 "\x00\x00\x01\xff"`},
		{"spaces", []string{"SET", "job-1", "a b", ""}, `SET job-1 "a b" ""`},
		{"script by digest", []string{"evalsha", sha, "1", "job-1"}, "EVALSHA script:c51f7f5e 1 job-1"},
		{"script in full", []string{"eval", "return 1", "0"}, "EVAL script:e0e1f9fa 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Printer{}
			if got := p.arguments(c.args); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPrinterShowsTimesOfDay: a schedule that began at another time is shown alike.
func TestPrinterShowsTimesOfDay(t *testing.T) {
	shown := time.Date(2000, 1, 1, 0, 0, 0, 313_000_007, time.UTC)
	start := shown.Add(400 * 24 * time.Hour)
	end := start.Add(2 * time.Second)
	bytes := func(t time.Time) string { return string(binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))) }
	for _, c := range []struct{ sent, want string }{
		{strconv.FormatInt(end.Unix(), 10), "946684802"},
		{strconv.FormatInt(end.UnixMilli(), 10), "946684802313"},
		{strconv.FormatInt(end.UnixMicro(), 10) + "/1", "946684802313000/1"},
		{strconv.FormatInt(end.UnixNano(), 10), "946684802313000007"},
		{bytes(end), quoted(bytes(shown.Add(2 * time.Second)))},
		{"946684802313", "946684802313"}, // of another year
		{"1000000000000", "1000000000000"},
		{"60000", "60000"},
	} {
		p := &Printer{Start: start, Shown: shown}
		if got := p.arguments([]string{"set", c.sent}); got != "SET "+c.want {
			t.Errorf("got %s, want SET %s", got, c.want)
		}
		if got := p.Reply("$" + strconv.Itoa(len(c.sent)) + "\r\n" + c.sent + "\r\n"); got != c.want {
			t.Errorf("reply: got %s, want %s", got, c.want)
		}
	}
}

func TestPrinterReply(t *testing.T) {
	for _, c := range []struct{ resp, want string }{
		{"+OK\r\n", "OK"},
		{":1\r\n", "1"},
		{"$-1\r\n", "nil"},
		{"_\r\n", ""},
		{"*-1\r\n", "nil"},
		{"-NOSCRIPT No matching script.\r\n", "-NOSCRIPT No matching script."},
		{"$22\r\nAb3dE5gH1jK2mN4pQ6sT8v\r\n", "token#1"},
		{"*3\r\n:1\r\n$1\r\na\r\n*1\r\n$-1\r\n", "[1 a [nil]]"},
		{"%1\r\n+a\r\n:2\r\n", "[a 2]"},
		{"*2\r\n:1\r\n", "[1]"}, // cut short
		{"$9\r\nx\r\n", "nil"},
		{"", ""},
	} {
		p := &Printer{}
		if got := p.Reply(c.resp); got != c.want {
			t.Errorf("%q: got %q, want %q", c.resp, got, c.want)
		}
	}
}

func FuzzPrinter(f *testing.F) {
	f.Add("set\x00job-1\x00Ab3dE5gH1jK2mN4pQ6sT8v", "*2\r\n:1\r\n$1\r\na\r\n")
	f.Fuzz(func(t *testing.T, args, resp string) {
		p := &Printer{}
		one := p.arguments(strings.Split(args, "\x00"))
		if again := p.arguments(strings.Split(args, "\x00")); again != one {
			t.Errorf("the same command: %q, then %q", one, again)
		}
		if strings.Contains(one, "\n") {
			t.Errorf("%q is more than a line", one)
		}
		p.Reply(resp)
	})
}
