package count

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
)

// TestFigures: the index is 1 when all got as many, and lower when one got all, whether or
// not the others have died since.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		name   string
		grants []int // of the clients, by number
		shares []int64
		jain   float64
	}{
		{"none", nil, nil, 0},
		{"even", []int{2, 2}, []int64{2, 2}, 1},
		{"one of four", []int{0, 0, 5, 0}, []int64{0, 0, 0, 5}, 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Fairness
			for client, n := range c.grants {
				m.Requested(int32(client))
				for range n {
					m.Granted(int32(client))
				}
			}
			if len(c.grants) > 0 {
				m.Retire(0)
			}
			if got := m.Figures().Jain; got != c.jain || !slices.Equal(m.Shares(), c.shares) {
				t.Errorf("index %v, want %v; shares %v, want %v", got, c.jain, m.Shares(), c.shares)
			}
		})
	}
}

// TestQueue: one client waits while another that came later is granted the key, and is
// overtaken once.
func TestQueue(t *testing.T) {
	var (
		q Queue
		m Fairness
	)
	patient := &history.Op{Kind: history.Acquire, Outcome: history.OK, Call: 10, Return: 50, Wait: 100}
	quick := &history.Op{Kind: history.Acquire, Outcome: history.OK, Call: 20, Return: 30, Wait: 100}
	q.Called(patient)
	q.Called(quick)
	q.Returned(quick, &m)
	q.Returned(patient, &m)
	if got, want := m.Figures(), (Figures{Waits: 2, MaxWait: 40 * time.Nanosecond, MaxBypassed: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestOmitted: clients that are left out have no grants, no share and no wait.
func TestOmitted(t *testing.T) {
	m := Fairness{Omit: func(client int32) bool { return client == 1 }}
	var q Queue
	for client := range int32(2) {
		op := &history.Op{Kind: history.Acquire, Client: client, Wait: int64(time.Second), Call: 10, Return: 20 + 100*int64(client), Outcome: history.OK}
		q.Called(op)
		m.Requested(client)
		m.Granted(client)
		q.Returned(op, &m)
	}
	if got := m.Figures(); got.Jain != 1 || got.Waits != 1 || got.MaxWait != 10 || !slices.Equal(m.Shares(), []int64{1}) {
		t.Errorf("got %+v and shares %v, want those of one client", got, m.Shares())
	}
}
