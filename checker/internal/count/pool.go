package count

// A Pool hands out values, and has them all back at once. The zero Pool is empty.
type Pool[T any] struct{ free, out []*T }

// Get returns a value that was emptied, or a new one.
func (p *Pool[T]) Get() *T {
	if len(p.free) == 0 {
		p.free = append(p.free, new(T))
	}
	v := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.out = append(p.out, v)
	return v
}

// Reclaim has all back that were handed out, emptied by empty.
func (p *Pool[T]) Reclaim(empty func(*T)) {
	for _, v := range p.out {
		empty(v)
	}
	p.free = append(p.free, p.out...)
	p.out = p.out[:0]
}
