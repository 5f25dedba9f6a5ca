package conclusion

import (
	"slices"
	"testing"
)

// TestSortRivals checks the order in which locks are recommended.
func TestSortRivals(t *testing.T) {
	type lock struct {
		name string
		Rival
	}
	late := &Conclusion{Word: NeedsGuard, Late: true}
	all := []lock{
		{"does not work", Rival{&Conclusion{Word: DoNotUse}, true, 1, 9000}},
		{"was tried too little", Rival{late, false, 1, 9000}},
		{"is slow", Rival{late, true, 1, 399}},
		{"is about as fast as the fastest", Rival{late, true, 1, 400}},
		{"is the fastest", Rival{late, true, 1, 1000}},
		{"breaks more", Rival{late, true, 2, 9000}},
		{"breaks within its lease", Rival{&Conclusion{Word: NeedsGuard}, true, 1, 9000}},
		{"nobody tried a guard", Rival{&Conclusion{Word: NotWithoutGuard}, true, 1, 9000}},
		{"nobody knows", Rival{&Conclusion{Word: NotKnown}, false, 0, 9000}},
		{"is safe", Rival{&Conclusion{Word: Safe}, true, 0, 1}},
	}
	SortRivals(all, func(l *lock) Rival { return l.Rival })
	var got []string
	for i := range all {
		got = append(got, all[i].name)
	}
	want := []string{
		"is safe", "is about as fast as the fastest", "is the fastest", "is slow", "breaks more", "was tried too little",
		"breaks within its lease", "nobody knows", "nobody tried a guard", "does not work",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
