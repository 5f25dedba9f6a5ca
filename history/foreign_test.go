package history

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// brief renders an operation for tables: client, kind, key, outcome, stamps,
// hold as a letter.
func brief(op *Op) string {
	hold := "-"
	if op.Hold != 0 {
		hold = fmt.Sprintf("%d.%d", op.Hold>>32, op.Hold&0xffffffff)
	}
	ret := "never"
	if op.Return != Never {
		ret = fmt.Sprint(op.Return)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s %s %d-%s %s %s", op.Client, op.Kind, op.Key, op.Outcome, op.Call, ret, hold, op.Note))
}

func briefs(events []Event) []string {
	var all []string
	for _, ev := range events {
		switch ev.Phase {
		case Call:
			all = append(all, brief(ev.Op))
		case Cut:
			all = append(all, fmt.Sprintf("%d cut %d", ev.Op.Client, ev.Op.Call))
		}
	}
	return all
}

const plainHeader = `{"schema":"lockbench/history/v2","design":"x"}` + "\n"

func TestForeignJSONL(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		err        string // text of the error, with its line
	}{
		{"as documented", plainHeader +
			`{"op":"acquire","client":1,"key":"a","call_ns":1000,"return_ns":5000,"outcome":"ok","attempt_ns":1000,"asked_ns":2000000000,"granted_ns":2000000000}
{"op":"acquire","client":2,"key":"a","call_ns":2000,"return_ns":6000,"outcome":"refused"}

{"op":"release","client":1,"key":"a","call_ns":7000,"return_ns":9000,"outcome":"ok"}`,
			[]string{"1 acquire a ok 1000-5000 1.1", "2 acquire a refused 2000-6000 -", "1 release a ok 7000-9000 1.1"}, ""},
		{"any order", plainHeader +
			`{"op":"release","client":1,"key":"","call_ns":7,"return_ns":9,"outcome":"ok"}
{"op":"acquire","client":1,"key":"","call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":0}`,
			[]string{"1 acquire  ok 1-2 1.1", "1 release  ok 7-9 1.1"}, ""},
		{"holds given are kept", plainHeader +
			`{"op":"acquire","client":1,"key":"","hold":77,"call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":0}
{"op":"release","client":1,"key":"","hold":0,"call_ns":7,"return_ns":9,"outcome":"ok"}`,
			[]string{"1 acquire  ok 1-2 0.77", "1 release  ok 7-9 -"}, ""},
		{"never returned, and an event", plainHeader +
			`{"op":"acquire","client":1,"key":"a","call_ns":1}
{"op":"death","client":1,"call_ns":4,"note":"killed"}`,
			[]string{"1 acquire a unknown 1-never 1.1", "1 death  ok 4-4 - killed"}, ""},
		{"after an acquire of unknown outcome", plainHeader +
			`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":50}
{"op":"release","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"failed"}
{"op":"acquire","client":1,"key":"a","call_ns":60}
{"op":"extend","client":1,"key":"a","call_ns":70,"return_ns":71,"outcome":"ok","granted_ns":50}`,
			[]string{"1 acquire a ok 1-2 1.1", "1 release a failed 3-4 1.1", "1 acquire a unknown 60-never 1.2", "1 extend a ok 70-71 1.2"}, ""},
		{"slip in a name", plainHeader +
			`{"op":"acquire","client":1,"key":"","call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":0}
{"op":"release","client":1,"key":"","call_ns":7,"returned_ns":9,"outcome":"ok"}`,
			[]string{"1 acquire  ok 1-2 1.1", "1 cut 2"}, `line 3: unknown field "returned_ns", which is 9; hint: did you mean return_ns`},
		{"partial without cuts", plainHeader +
			`{"epoch_ns":0}
{"op":"acquire","client":1,"key":"a","hold":1,"call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":50}
{"epoch_ns":3}
{"op":"acquire","client":1,"key":"a","hold":2,"call_ns":4,"return_ns":5,"outcome":"ok","granted_ns":50}
{"end":{"partial":true,"why":"the queue was full"}}`,
			[]string{"1 acquire a ok 1-2 0.1", "1 cut 3"}, ""},
		{"torn", plainHeader + `{"op":"acquire","client":1,"ca`, nil, "line 2: the line is cut short"},
		{"two on a line", plainHeader + `{"op":"death","client":1,"call_ns":1}{}`, nil, "line 2: something follows"},
		{"after the end", plainHeader + `{"end":{}}` + "\n" + `{"epoch_ns":1}`, nil, "line 3: something follows the end line"},
		{"epoch broken", plainHeader + `{"epoch_ns":9}` + "\n" + `{"op":"death","client":1,"call_ns":8}`, nil, "line 3: the death of client 1 at 8 ns comes too late"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := NewSource(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			events, err := gather(src)
			checkError(t, err, tt.err)
			if diff := cmp.Diff(briefs(events), tt.want); diff != "" {
				t.Errorf("operations (-got +want):\n%s", diff)
			}
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("no error, want one that says %q", want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

// A header that claims nothing, and one that does not speak of claims, differ.
func TestAssumedClaims(t *testing.T) {
	tests := []struct {
		header string
		claims bool
	}{
		{plainHeader, true},
		{`{"schema":"lockbench/history/v2","design":"x","claims":null}`, false},
	}
	for _, tt := range tests {
		src, err := readJSONL(strings.NewReader(tt.header))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(src.Header().Claims.Keeps) > 0; got != tt.claims {
			t.Errorf("%s claims something: %v, want %v", tt.header, got, tt.claims)
		}
	}
}

// TestWakes: how soon waiters ask again is kept by both formats, and cannot be less than nothing.
func TestWakes(t *testing.T) {
	for _, want := range []int64{0, 50e6} {
		src := &listed{header: Header{Schema: Schema, Design: "d", WakesNS: want}}
		for name, write := range map[string]func(*bytes.Buffer, Source) error{"binary": toNative, "lines": toJSONL} {
			if got := through(t, src, write).Header().WakesNS; got != want {
				t.Errorf("%s: got %d ns, want %d", name, got, want)
			}
		}
	}
	_, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v2","design":"x","wakes_ns":-1}`))
	checkError(t, err, "wakes_ns is -1, before the key is free; hint: ")
}

func TestEDN(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		err        string
	}{
		{"a pair", `{:process 0, :type :invoke, :f :acquire, :value nil, :time 1}
{:process 0, :type :ok, :f :acquire, :value nil, :time 5}
{:process 0, :type :invoke, :f :release, :time 7}
{:process 0, :type :ok, :f :release, :time 9}`,
			[]string{"0 acquire lock ok 1-5 0.1", "0 release lock ok 7-9 0.1"}, ""},
		{"one vector, tags, comments, tuples", `[ ; by hand
#jepsen.history.Op{:index 0 :process 3 :type :invoke :f :lock :value ["a;]}" nil] :time 1}
#jepsen.history.Op{:index 1 :process 3 :type :fail :f :lock :value ["a;]}" nil] :time 5}
]`, []string{"3 acquire a;]} refused 1-5 -"}, ""},
		{"by index", `{:index 4 :process 0 :type :invoke :f :acquire}
{:index 9 :process 0 :type :ok :f :acquire}`, []string{"0 acquire lock ok 4-9 0.1"}, ""},
		{"by place", `{:process 0 :type :invoke :f :acquire}
{:process 0 :type :ok :f :acquire}`, []string{"0 acquire lock ok 0-1 0.1"}, ""},
		{"info ends the identity", `{:process 0 :type :invoke :f :acquire :time 1}
{:process 0 :type :info :f :acquire :time 2 :error :timeout}
{:process 0 :type :invoke :f :acquire :time 3}
{:process 0 :type :fail :f :acquire :time 4}`,
			[]string{"0 acquire lock unknown 1-never 0.1 timeout", "1073741824 acquire lock refused 3-4 -"}, ""},
		{"no completion ends it too", `{:process 0 :type :invoke :f :acquire :time 1}
{:process 0 :type :invoke :f :release :time 3}`,
			[]string{"0 acquire lock unknown 1-never 0.1", "1073741824 release lock unknown 3-never -"}, ""},
		{"failed and lost releases", `{:process 0 :type :invoke :f :acquire :time 0}
{:process 0 :type :ok :f :acquire :time 1}
{:process 0 :type :invoke :f :release :time 2}
{:process 0 :type :fail :f :release :time 3 :error "connection refused by host"}
{:process 0 :type :invoke :f :release :time 4}
{:process 0 :type :fail :f :release :time 5 :error [:not-held "gone"]}`,
			[]string{"0 acquire lock ok 0-1 0.1", "0 release lock failed 2-3 0.1 connection-refused-by-host", "0 release lock lost 4-5 0.1 not-held"}, ""},
		{"nemesis", `{:process :nemesis :type :info :f :start-partition :value :majority :time 3}`,
			[]string{"-1 fault  ok 3-3 - start-partition"}, ""},
		{"unknown function", "\n{:process 0 :type :invoke :f :read :time 1}", nil, "line 2: :f :read is no operation of a lock"},
		{"unknown type", `{:process 0 :type :maybe :f :acquire :time 1}`, nil, "line 1: :type :maybe"},
		{"not invoked", `{:process 0 :type :ok :f :acquire :time 1}`, nil, "line 1: process 0 completes an operation that it never invoked"},
		{"extend without lease", `{:process 0 :type :invoke :f :extend :time 1}`, nil, "line 1: the :extend has no :ttl-ms"},
		{"cut short", `{:process 0 :type :invoke :f :acquire :time 1}
{:process 0 :type :ok :f`, []string{"0 acquire lock unknown 1-never 0.1", "0 cut 1"}, "line 2: the file ends inside a map"},
		{"no map", `{:process 0 :type :invoke :f :acquire :time 1} 17`, []string{"0 acquire lock unknown 1-never 0.1", "0 cut 1"}, "line 1: '1' where a map should begin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := NewSource(strings.NewReader(tt.text))
			if err != nil {
				if src, err = readEDN(strings.NewReader(tt.text)); err != nil {
					t.Fatal(err)
				}
			}
			events, err := gather(src)
			checkError(t, err, tt.err)
			if diff := cmp.Diff(briefs(events), tt.want); diff != "" {
				t.Errorf("operations (-got +want):\n%s", diff)
			}
		})
	}
}

func TestEDNLeases(t *testing.T) {
	src, err := readEDN(strings.NewReader(`
{:process 0 :type :invoke :f :acquire :value {:key "a" :ttl-ms 2000 :wait-ms 50} :time 1}
{:process 0 :type :ok :f :acquire :value {:key "a" :fence 7 :ttl-ms 3000} :time 5}
{:process 0 :type :invoke :f :extend :value {:key "a" :ttl-ms 1000} :time 6}
{:process 0 :type :ok :f :extend :value nil :time 8}
{:process 1 :type :invoke :f :acquire :value [:a {:ttl-ms 2000}] :time 10}
{:process 1 :type :ok :f :acquire :value [:a {:fence 8}] :time 15}`))
	if err != nil {
		t.Fatal(err)
	}
	events, err := gather(src)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Key                           string
		Asked, Granted, Wait, Attempt int64
		Fence                         uint64
	}
	var got []row
	for _, ev := range events {
		if op := ev.Op; ev.Phase == Call {
			got = append(got, row{op.Key, op.Asked, op.Granted, op.Wait, op.Attempt, op.Fence})
		}
	}
	want := []row{
		{"a", 2e9, 3e9, 5e7, NoStamp, 7},
		{"a", 1e9, 1e9, 0, 6, 0},
		{"a", 2e9, 2e9, 0, 10, 8},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("leases (-got +want):\n%s", diff)
	}
}

// exhaust reads its source to the end; it must return. The delivered events must be in order.
func exhaust(t *testing.T, src Source, err error) {
	if err != nil {
		return
	}
	at := int64(0)
	for ev, err := range src.Events() {
		if err != nil {
			break
		}
		now := ev.Op.Call
		if ev.Phase == Return {
			now = ev.Op.Return
		}
		if now < at {
			t.Fatalf("%s comes after %d", show(ev), at)
		}
		at = now
	}
	_ = src.End()
}

func FuzzNative(f *testing.F) {
	file := recorded(f)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		src, err := readNative(bytes.NewReader(b))
		exhaust(t, src, err)
	})
}

// FuzzBlock gets past the checksum: the payload of a block with a right one.
func FuzzBlock(f *testing.F) {
	payload := pack(sampleOps(4))
	f.Add(byte(opsBlock), 4, int64(9), payload)
	f.Add(byte(streamBlock), 0, int64(0), []byte{2, 4})
	f.Add(byte(cutBlock), 0, int64(3), []byte{2})
	f.Add(byte(endBlock), 0, int64(0), []byte(`{"partial":true}`))
	f.Fuzz(func(t *testing.T, kind byte, count int, watermark int64, payload []byte) {
		var file bytes.Buffer
		out := blockWriter{w: &file}
		if err := out.open(Header{Schema: Schema}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			out.write(frame{blockType(kind), 1, count, watermark}, payload)
			out.write(frame{kind: epochBlock, watermark: watermark}, nil)
		}
		src, err := readNative(&file)
		exhaust(t, src, err)
	})
}

func FuzzJSONL(f *testing.F) {
	src, _ := NewSource(bytes.NewReader(recorded(f)))
	var text bytes.Buffer
	_ = WriteJSONL(&text, src)
	f.Add(text.String())
	f.Add(plainHeader + `{"op":"acquire","client":1,"key_base64":"/wA=","call_ns":1,"return_ns":2,"outcome":"ok","hold":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		src, err := readJSONL(strings.NewReader(text))
		exhaust(t, src, err)
	})
}

func FuzzEDN(f *testing.F) {
	f.Add(`[#a.b{:process 0 :type :invoke :f :acquire :value ["k" {:ttl-ms 5}] :time 1} ; c
{:process 0, :type :info, :f :acquire, :error [:x "y\"}"], :index 3}]`)
	f.Add(`{:process :nemesis :type :info :f :kill :value \} :time 2}`)
	f.Fuzz(func(t *testing.T, text string) {
		src, err := readEDN(strings.NewReader(text))
		exhaust(t, src, err)
	})
}

// TestUntoldLeases: a lease that another program leaves out is unknown; that does not mean that
// the lock has none.
func TestUntoldLeases(t *testing.T) {
	for _, c := range []struct {
		fields           string // of an operation answered ok
		attempt, granted int64
	}{
		{`"op":"acquire","attempt_ns":3,"asked_ns":50,"granted_ns":40`, 3, 40},
		{`"op":"acquire","attempt_ns":3,"granted_ns":0`, 3, 0},
		{`"op":"acquire","attempt_ns":3,"asked_ns":50,"granted_ns":0`, 3, 0},
		{`"op":"acquire","attempt_ns":3,"asked_ns":50`, 3, NotTold},
		{`"op":"acquire","attempt_ns":3`, 3, NotTold},
		{`"op":"extend","hold":1,"asked_ns":50`, NoStamp, NotTold},
		{`"op":"renew","hold":1`, NoStamp, NotTold},
		{`"op":"read","hold":1,"version":0`, NoStamp, 0},
	} {
		text := plainHeader + "{" + c.fields + `,"client":1,"key":"a","call_ns":2,"return_ns":5,"outcome":"ok"}`
		for range 2 { // as it is read, and written, and read
			src, err := NewSource(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var copied bytes.Buffer
			if err := WriteJSONL(&copied, src); err != nil {
				t.Fatal(err)
			}
			text = copied.String()
		}
		src, err := NewSource(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		events, err := gather(src)
		if err != nil {
			t.Fatalf("%s: %v", c.fields, err)
		}
		if op := events[0].Op; op.Attempt != c.attempt || op.Granted != c.granted {
			t.Errorf("%s: attempt %d, granted %d, want %d and %d", c.fields, op.Attempt, op.Granted, c.attempt, c.granted)
		}
	}
}
