package batch

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAllInOrder(t *testing.T) {
	for _, n := range []int{0, 1, batchLen - 1, batchLen, batchLen + 1, 20*batchLen + 7} {
		next := 0
		q := New(func(batch []int) {
			for _, v := range batch {
				if v != next {
					t.Errorf("of %d values: got %d, want %d", n, v, next)
				}
				next++
			}
		})
		for i := range n {
			q.Add(i)
		}
		q.Wait()
		q.Wait()
		if next != n {
			t.Errorf("got %d values, want %d", next, n)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	q := New(func([]int) {})
	for i := range b.N {
		q.Add(i)
	}
	q.Wait()
}
