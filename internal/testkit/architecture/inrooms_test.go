package architecture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// most is the most rooms that internal may have.
const most = 10

// TestRoomsAreFolders checks that a room of internal is a folder right under it, and has every
// package in that folder and no other.
func TestRoomsAreFolders(t *testing.T) {
	for _, complaint := range outside(readRooms(t)) {
		t.Errorf("rooms.txt: %s", complaint)
	}
}

// TestOutside checks that each fault of a table is found.
func TestOutside(t *testing.T) {
	many := make([]room, most+1)
	for i := range many {
		many[i].name = fmt.Sprintf("internal/%c", 'a'+i)
	}
	for _, c := range []struct {
		name  string
		rooms []room
		want  []string
	}{
		{"in place", []room{{name: "x", packages: []placed{{folder: "x"}}}, {name: "internal/a", packages: []placed{{folder: "internal/a"}, {folder: "internal/a/b"}}}}, nil},
		{"below internal in another room", []room{{name: "x", packages: []placed{{folder: "internal/b"}}}}, []string{"internal/b stands in room x"}},
		{"of another folder", []room{{name: "internal/a", packages: []placed{{folder: "internal/ab"}}}}, []string{"internal/ab stands in room internal/a"}},
		{"below a room", []room{{name: "internal/a/b"}}, []string{"room internal/a/b is not right under internal"}},
		{"too many", many, []string{"11 rooms under internal, want at most 10"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(outside(c.rooms), c.want); diff != "" {
				t.Errorf("complaints (-got +want):\n%s", diff)
			}
		})
	}
}

func outside(rooms []room) (complaints []string) {
	under := 0
	for _, r := range rooms {
		below, internal := strings.CutPrefix(r.name, "internal/")
		if internal {
			under++
		}
		if strings.Contains(below, "/") && internal {
			complaints = append(complaints, "room "+r.name+" is not right under internal")
		}
		for _, p := range r.packages {
			if inside := p.folder == r.name || strings.HasPrefix(p.folder, r.name+"/"); inside != (internal || strings.HasPrefix(p.folder, "internal/")) && (internal || !inside) {
				complaints = append(complaints, p.folder+" stands in room "+r.name)
			}
		}
	}
	if under > most {
		complaints = append(complaints, fmt.Sprintf("%d rooms under internal, want at most %d", under, most))
	}
	return complaints
}

// TestTestKit checks that only packages of the test kit and of bench are built with the test kit.
func TestTestKit(t *testing.T) {
	users := 0
	for _, p := range list(t) {
		within := matching(short(p.ImportPath))
		kit := slices.ContainsFunc(p.Imports, func(path string) bool { return strings.HasPrefix(path, module+"/internal/testkit/") })
		if kit {
			users++
		}
		if kit && !within("internal/testkit/*") && !within("bench/*") {
			t.Errorf("%s imports the test kit", p.ImportPath)
		}
	}
	if users == 0 {
		t.Error("no package imports the test kit: this test reads it no longer")
	}
}

// TestRoomsRunOneWay checks that no two rooms of internal import each other, directly or by others.
func TestRoomsRunOneWay(t *testing.T) {
	if circle := circle(roomImports(list(t))); circle != "" {
		t.Errorf("rooms import in a circle: %s", circle)
	}
}

// TestCircle checks that a circle of rooms is found, and that packages outside of rooms make none.
func TestCircle(t *testing.T) {
	from := func(name string, imports ...string) listing {
		for i, path := range imports {
			imports[i] = module + "/" + path
		}
		return listing{ImportPath: module + "/" + name, Imports: imports}
	}
	for _, c := range []struct {
		name     string
		packages []listing
		want     string
	}{
		{"one way", []listing{from("internal/a", "internal/b/x", "internal/c"), from("internal/b/x", "internal/c"), from("internal/a/y", "internal/a")}, ""},
		{"around", []listing{from("internal/a", "internal/b"), from("internal/b/x", "internal/c"), from("internal/c", "internal/a/y")}, "internal/a internal/b internal/c internal/a"},
		{"by a public package", []listing{from("internal/a", "history"), from("history", "internal/b"), from("internal/b", "internal/a")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := circle(roomImports(c.packages)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// roomImports has the rooms of internal that each room imports.
func roomImports(packages []listing) map[string][]string {
	roomOf := func(path string) string {
		parts := strings.Split(short(path), "/")
		if parts[0] != "internal" || len(parts) < 2 || !isOurs(path) {
			return ""
		}
		return parts[0] + "/" + parts[1]
	}
	all := map[string][]string{}
	for _, p := range packages {
		from := roomOf(p.ImportPath)
		for _, path := range p.Imports {
			if to := roomOf(path); from != "" && to != "" && to != from && !slices.Contains(all[from], to) {
				all[from] = append(all[from], to)
			}
		}
	}
	return all
}

// circle returns the first rooms that import each other in a circle, the first once more at its
// end.
func circle(imports map[string][]string) string {
	for _, start := range slices.Sorted(maps.Keys(imports)) {
		seen := map[string]bool{}
		var way func(at string) []string
		way = func(at string) []string {
			for _, next := range imports[at] {
				if next == start {
					return []string{at, start}
				}
				if seen[next] {
					continue
				}
				seen[next] = true
				if rest := way(next); rest != nil {
					return append([]string{at}, rest...)
				}
			}
			return nil
		}
		if found := way(start); found != nil {
			return strings.Join(found, " ")
		}
	}
	return ""
}

// allowed has the packages of lockbench that a package may import directly, by its line.
func allowed(rooms []room) map[string][]string {
	all := map[string][]string{}
	for _, r := range rooms {
		for _, p := range r.packages {
			if p.limited {
				all[dotless(p.folder)] = each(p.imports, dotless)
			}
		}
	}
	return all
}

// dotless is the short name of a package: of the root it is empty.
func dotless(folder string) string { return strings.TrimPrefix(folder, ".") }

func each(all []string, of func(string) string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = of(s)
	}
	return out
}
