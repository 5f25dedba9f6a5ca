package conclusion

import "strings"

// A Reason is a reason for a conclusion, and the locks that it is about.
type Reason struct {
	Why   string
	Locks []string
}

// ByReason returns the reasons for the conclusions of several locks, each once, in the order of the
// locks. of returns the reason and the name of a lock.
func ByReason[T any](locks []T, of func(T) (why, lock string)) (all []Reason) {
	at := make(map[string]int)
	for _, l := range locks {
		why, lock := of(l)
		i, known := at[why]
		if !known {
			i = len(all)
			at[why] = i
			all = append(all, Reason{Why: why})
		}
		all[i].Locks = append(all[i].Locks, lock)
	}
	return all
}

// Brief returns the reason, without what differs from lock to lock if too little was tried.
func (c *Conclusion) Brief() string {
	if c.Word != NotKnown {
		return c.Why
	}
	why, _, _ := strings.Cut(c.Why, " of ")
	return why
}
