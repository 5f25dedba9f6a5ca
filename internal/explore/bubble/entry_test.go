package bubble

import "testing"

func TestChildIsNotForParents(t *testing.T) {
	Child(nil) // returns
}
