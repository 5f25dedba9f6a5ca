package synthetic

// A queue is a heap of the clients, with the client of the next request in front. It
// is like container/heap, without the calls through an interface, which would take
// most of the time.
type queue []*client

// sooner orders clients; ids decide ties, so that equal seeds make equal histories.
func (q queue) sooner(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].id < q[j].id
}

// order makes a heap of clients in any order.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// down moves the i-th client to its place after its time has become later.
func (q queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q.sooner(child+1, child) {
			child++
		}
		if !q.sooner(child, i) {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}
