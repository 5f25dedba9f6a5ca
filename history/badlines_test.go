package history

import (
	"strings"
	"testing"
)

// TestBadLines: an error in a line has the line's number, the field, its value, the reason
// and a hint.
func TestBadLines(t *testing.T) {
	const granted = `{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":50}`
	for _, c := range []struct{ line, err string }{
		{`{"op":"acquire","client":1,"key":"a","calls_ns":1}`, `unknown field "calls_ns", which is 1; hint: did you mean call_ns`},
		{`{"op":"acquire","client":1,"key":"a","Call_ns":1}`, `unknown field "Call_ns", which is 1; hint: did you mean call_ns`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"zzz":{"x":[1,"}"]}}`, `unknown field "zzz", which is {"x":[1,"}"]}; hint: known are op, outcome, late`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"call_ns":2}`, `"call_ns" is there twice, the second time as 2; hint: each field once`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":"1"}`, `"call_ns" is "1"; hint: it is a whole number of 64 bits, without quotes`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1.5}`, `"call_ns" is 1.5; hint: it is a whole number`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":99999999999999999999}`, `"call_ns" is 99999999999999999999; hint: it is a whole number of 64 bits`},
		{`{"op":"acquire","client":4294967296,"key":"a","call_ns":1}`, `"client" is 4294967296; hint: it is a whole number of 32 bits`},
		{`{"op":"acquire","client":"w1","key":"a","call_ns":1}`, `"client" is "w1"; hint: it is a whole number of 32 bits`},
		{`{"op":"acquire","client":1,"key":7,"call_ns":1}`, `"key" is 7; hint: it is text in quotes`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"late":"yes"}`, `"late" is "yes"; hint: it is true or false`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":null}`, `"return_ns" is null; hint: leave out what is not known`},
		{`{"op":"aquire","client":1,"key":"a","call_ns":1}`, `"op" is "aquire", which is no kind of operation; hint: did you mean acquire? It is one of acquire, release, extend`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2,"outcome":"timeout"}`, `"outcome" is "timeout", which is no outcome; hint: one of unknown, ok, refused, lost, failed; in doubt unknown, which accuses nobody`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2,"outcome":"refuse"}`, `"outcome" is "refuse", which is no outcome; hint: did you mean refused?`},
		{`{"client":1,"key":"a","call_ns":1}`, `it has no "op"; hint: one of acquire, release, extend, renew, read, write, lost, death, pause, resume, fault`},
		{`{"op":"acquire","key":"a","call_ns":1}`, `the acquire has no "client"; hint: a number for each owner`},
		{`{"op":"acquire","client":1,"key":"a"}`, `the acquire has no "call_ns"; hint: the stamp taken before`},
		{`{"op":"acquire","client":1,"call_ns":1}`, `the acquire has no "key"; hint: "key":"" for a lock that has one key only`},
		{`{"op":"acquire","client":1,"key":"a","key_base64":"YQ==","call_ns":1}`, `it has "key" "a" and "key_base64"; hint: `},
		{`{"op":"acquire","client":1,"key":"a\ud800","call_ns":1}`, "which is not UTF-8: an escape is half of a character; hint: key_base64"},
		{`{"op":"acquire","client":1,"key":"a` + "\xff" + `","call_ns":1}`, "it has bytes that are not UTF-8; hint: key_base64"},
		{`{"op":"acquire","client":1,"key":"a","call_ns":-5}`, `"call_ns" is -5, before the run began; hint: stamps are ns since the start of the run`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":5,"return_ns":2,"outcome":"ok"}`, `"return_ns" is 2, before "call_ns", which is 5; hint: `},
		{`{"op":"acquire","client":1,"key":"a","call_ns":5,"return_ns":7,"outcome":"ok","attempt_ns":8}`, `"attempt_ns" is 8, after "return_ns", which is 7; hint: `},
		{`{"op":"acquire","client":1,"key":"a","intended_ns":6,"call_ns":5}`, `"intended_ns" is 6, after "call_ns", which is 5; hint: `},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2}`, `it has a "return_ns", which is 2, and no "outcome"; hint: one of ok, refused, lost, failed, or unknown`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"outcome":"ok"}`, `"outcome" is "ok", and there is no "return_ns"; hint: the stamp taken after the reply came`},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"return_ns":2,"outcome":"ok","granted_ns":-1}`, `"granted_ns" is -1, less than nothing; hint: `},
		{`{"op":"acquire","client":1,"key":"a","call_ns":1,"wait_ns":-1}`, `"wait_ns" is -1, less than nothing; hint: `},
		{`{"op":"release","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"ok","fence":7}`, `"fence" is 7, which says nothing of a release; hint: only acquire, read, write may have it`},
		{`{"op":"release","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"ok","granted_ns":0}`, `"granted_ns" is 0, which says nothing of a release; hint: only acquire, extend, renew may have it`},
		{`{"op":"release","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"lost","late":true}`, `"late" is true, and "outcome" is "lost"; hint: `},
		{`{"op":"release","client":1,"key":"a","hold":1,"call_ns":3,"return_ns":4,"outcome":"ok"}`, `"hold" is in this release, and in none before; hint: `},
		{`{"op":"write","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"ok","value":3}`, `the write has no "version"; hint: `},
		{`{"op":"death","client":1,"call_ns":3,"return_ns":4}`, `"return_ns" is 4, and a death is an event, which has "call_ns" only; hint: `},
		{`{"op":"death","client":1,"call_ns":3,"outcome":"failed"}`, `"outcome" is "failed", and a death is an event, which has none; hint: `},
		{`{"op":"death","client":1,"call_ns":3,"epoch_ns":3}`, `it has more than one of "op", "epoch_ns", "cut" and "end"; hint: `},
		{`{"epoch_ns":3}`, `the first epoch comes after operations; hint: `},
		{`{"cut":{"client":1}}`, `the cut lacks "client" or "at_ns"; hint: `},
		{`{"cut":{"client":1,"at":3}}`, `unknown field "at"`},
		{`{"op":"acquire" "client":1}`, `it is no JSON at byte 17: invalid character '"' after object key:value pair; hint: one object on each line`},
		{`["acquire"]`, `it is ["acquire"], and no object; hint: one object on each line`},
		{`{"op":"death","client":1,"call_ns":3}{}`, `something follows the JSON object; hint: one object on each line`},
	} {
		src, err := NewSource(strings.NewReader(plainHeader + granted + "\n" + c.line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = gather(src)
		if err == nil || !strings.HasPrefix(err.Error(), "history: line 3: "+c.err) && !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "; hint: ") {
			t.Errorf("%s\n got %v\nwant history: line 3: %s", c.line, err, c.err)
			continue
		}
		if end := src.End(); !end.Partial {
			t.Errorf("%s: the history is not partial", c.line)
		}
	}
}

// TestBadHeaders is the same for the first line.
func TestBadHeaders(t *testing.T) {
	for _, c := range []struct{ header, err string }{
		{`{"design":"x"}`, `schema`},
		{`{"schema":"lockbench/history/v2","dezign":"x"}`, `unknown field "dezign", which is "x"; hint: did you mean design`},
		{`{"schema":"lockbench/history/v2","schema":"lockbench/history/v2"}`, `"schema" is there twice`},
		{`{"schema":"lockbench/history/v2","renews":"yes"}`, `"renews" is "yes"; hint: it is true or false`},
		{`{"schema":"lockbench/history/v2","reacquire":"reentrant"}`, `"reacquire" is "reentrant"; hint: refused, nested or refreshed`},
		{`{"schema":"lockbench/history/v2","tolerance_ns":-1}`, `"tolerance_ns" is -1, less than nothing; hint: `},
		{`{"schema":"lockbench/history/v2","stamps":"sundial"}`, `"stamps" is "sundial"; hint: adapter, or leave it out`},
		{`{"schema":"lockbench/history/v2","sample":2}`, `"sample" is 2; hint: `},
		{`{"schema":"lockbench/history/v2","wakes_ns":-1}`, `wakes_ns is -1, before the key is free; hint: `},
		{`{"schema":"lockbench/history/v2","claims":["exclusoin"]}`, `exclusion`},
	} {
		_, err := NewSource(strings.NewReader(c.header))
		if err == nil || !strings.HasPrefix(err.Error(), "history: line 1, the header: ") || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "; hint: ") {
			t.Errorf("%s\n got %v\nwant history: line 1, the header: %s", c.header, err, c.err)
		}
	}
}
