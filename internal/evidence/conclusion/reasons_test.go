package conclusion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestByReason(t *testing.T) {
	all := map[string]*Conclusion{
		"a": {Word: DoNotUse, Why: "stuck, when: process dies of age"},
		"b": {Word: NotKnown, Why: "too little was tried of stuck (process dies: 3 occasions)"},
		"c": {Word: DoNotUse, Why: "stuck, when: process dies of age"},
		"d": {Word: NotKnown, Why: "too little was tried of two-owners (reply is lost: not at all)"},
	}
	got := ByReason([]string{"a", "b", "c", "d"}, func(name string) (why, lock string) { return all[name].Brief(), name })
	want := []Reason{{"stuck, when: process dies of age", []string{"a", "c"}}, {"too little was tried", []string{"b", "d"}}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("reasons (-got +want):\n%s", diff)
	}
}
