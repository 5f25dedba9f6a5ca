package history

import "testing"

// TestStalls: stallers are numbered after the measured clients, and again among the
// replacements of the dead.
func TestStalls(t *testing.T) {
	h := Header{Clients: 3, Stallers: 2}
	for client, want := range map[int32]bool{-1: false, 0: false, 2: false, 3: true, 4: true, 5: false, 7: false, 8: true, 9: true, 10: false} {
		if got := h.Stalls(client); got != want {
			t.Errorf("client %d stalls: got %t, want %t", client, got, want)
		}
	}
	if h := (Header{Clients: 3}); h.Stalls(7) {
		t.Error("a client stalls where there are no stallers")
	}
}
