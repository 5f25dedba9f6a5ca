package count

// A Pool hands out values, and takes all of them back at once. The zero Pool is empty.
type Pool[T any] struct{ free, out []*T }

// Get returns an empty value.
func (p *Pool[T]) Get() *T {
	if len(p.free) == 0 {
		p.free = append(p.free, new(T))
	}
	v := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.out = append(p.out, v)
	return v
}

// Reclaim takes back all values that Get returned. empty resets each.
func (p *Pool[T]) Reclaim(empty func(*T)) {
	for _, v := range p.out {
		empty(v)
	}
	p.free = append(p.free, p.out...)
	p.out = p.out[:0]
}
