package relay

import (
	"testing"
	"testing/synctest"
)

// TestOpaque plays a client and a server that speak an unknown protocol. A turn is what one of them
// sends; the handler decides about each exchange by its number.
func TestOpaque(t *testing.T) {
	type turn struct{ client, server string }
	for _, tt := range []struct {
		name             string
		turns            []turn
		cut, lose        int // number of the exchange, from 1
		atServer, atSide string
		asked, lost      int
	}{
		{"everything arrives", []turn{{"a", "A"}, {"b", "B"}}, 0, 0, "ab", "AB", 2, 0},
		{"the server begins", []turn{{"", "*2\r\n"}, {"a", "A"}}, 0, 0, "a", "*2\r\nA", 1, 0},
		{"a request in two parts is one", []turn{{"a", ""}, {"b", "AB"}, {"c", "C"}}, 0, 0, "abc", "ABC", 2, 0},
		{"an answer in two parts is one", []turn{{"a", "A"}, {"", "A"}, {"b", "B"}}, 0, 0, "ab", "AAB", 2, 0},
		{"a request is not sent", []turn{{"a", "A"}, {"b", "B"}}, 2, 0, "a", "A", 2, 0},
		{"a reply is lost", []turn{{"a", "A"}, {"b", "B"}, {"c", "C"}}, 0, 2, "ab", "A", 2, 1},
		{"bytes that nobody asked for are not lost", []turn{{"a", "A"}, {"", "push"}, {"b", "B"}}, 0, 2, "ab", "Apush", 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, lost := 0, 0
				r, client, server := pipedBy(t, func(name string) (bool, func()) {
					if asked++; name != Exchange {
						t.Errorf("its name is %q", name)
					}
					if asked == tt.lose {
						return true, func() { lost++ }
					}
					return asked != tt.cut, nil
				}, true)
				atClient, atServer := collect(client), collect(server)
				for _, turn := range tt.turns {
					if turn.client != "" {
						send(client, turn.client)
					}
					synctest.Wait()
					if turn.server != "" {
						send(server, turn.server)
					}
					synctest.Wait()
				}
				if broken := r.Connections() == 0; broken != (tt.cut+tt.lose > 0) {
					t.Errorf("the connection broke: %t", broken)
				}
				r.Close()
				if got := <-atServer; got != tt.atServer {
					t.Errorf("at the server: %q, want %q", got, tt.atServer)
				}
				if got := <-atClient; got != tt.atSide {
					t.Errorf("at the client: %q, want %q", got, tt.atSide)
				}
				if asked != tt.asked || lost != tt.lost {
					t.Errorf("asked %d times, lost %d; want %d and %d", asked, lost, tt.asked, tt.lost)
				}
			})
		})
	}
}
