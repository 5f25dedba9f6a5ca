package figures

import "testing"

func TestFormats(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 850: "850ns", 999: "999ns", 1000: "1us", 1240: "1.2us", 9_949: "9.9us", 9_951: "10us",
		340_000: "340us", 999_499: "999us", 999_600: "1ms", 12_300_000: "12ms",
		2_000_000_000: "2s", 59_400_000_000: "59s", 61_000_000_000: "1m1s",
	} {
		if got := Compact(ns); got != want {
			t.Errorf("Compact(%d): got %s, want %s", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d): got %s, want %s", n, got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1234: "1.2k", 9_960: "10k", 412_233: "412k", 999_600: "1M", 12_345_678: "12M"} {
		if got := Few(n); got != want {
			t.Errorf("Few(%d): got %s, want %s", n, got, want)
		}
	}
}
