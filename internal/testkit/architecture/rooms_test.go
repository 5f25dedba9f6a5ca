package architecture

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables of rooms in docs/design/README.md")

// A room is a part of the table rooms.txt.
type room struct {
	name, purpose string
	packages      []placed
}

// A placed package stands in a room. Its folder may end in /*, for all packages below without a
// line of their own.
type placed struct {
	folder, knows string
	imports       []string // packages of lockbench that it may import directly
	limited       bool     // whether imports is complete; else it may import any
}

// TestRooms checks that every package stands in one room, that every folder of the table has
// code, and that the paper shows the table.
func TestRooms(t *testing.T) {
	rooms := readRooms(t)
	var packages []string
	for _, p := range list(t) {
		packages = append(packages, short(p.ImportPath))
	}
	for _, complaint := range misplaced(rooms, packages) {
		t.Errorf("rooms.txt: %s", complaint)
	}
	const paper = "../../../docs/design/README.md"
	text, err := os.ReadFile(paper)
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(`(?s)<!-- rooms -->\n.*?<!-- /rooms -->`)
	got := strings.ReplaceAll(string(text), "\r\n", "\n")
	want := part.ReplaceAllLiteralString(got, "<!-- rooms -->\n"+asTables(rooms)+"<!-- /rooms -->")
	if !part.MatchString(got) {
		t.Fatal("docs/design/README.md has no place for the rooms")
	}
	if *update {
		if err := os.WriteFile(paper, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("docs/design/README.md (-got +want); hint: -update writes the tables:\n%s", diff)
	}
}

// TestMisplaced checks that a package without a room, one with two, and a line without a package
// are found.
func TestMisplaced(t *testing.T) {
	table := []room{
		{name: "a", packages: []placed{{folder: "."}, {folder: "x/*"}, {folder: "x/y"}}},
		{name: "b", packages: []placed{{folder: "z"}}},
	}
	twice := append(slices.Clone(table), room{name: "c", packages: []placed{{folder: "z"}}})
	for _, c := range []struct {
		name     string
		rooms    []room
		packages []string
		want     []string
	}{
		{"all in place", table, []string{"", "x/y", "x/w/v", "z"}, nil},
		{"no room", table, []string{"", "x/y", "x/w", "z", "x", "n"}, []string{"x has no line", "n has no line"}},
		{"two rooms", twice, []string{"", "x/y", "x/w", "z"}, []string{"z has two lines"}},
		{"no package", table, []string{"", "x/y"}, []string{"x/* has no package", "z has no package"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(misplaced(c.rooms, c.packages), c.want); diff != "" {
				t.Errorf("complaints (-got +want):\n%s", diff)
			}
		})
	}
}

// misplaced lists the packages without a line or with two, and the lines without a package.
func misplaced(rooms []room, packages []string) (complaints []string) {
	used := map[string]bool{}
	for _, r := range rooms {
		for _, p := range r.packages {
			if _, twice := used[p.folder]; twice {
				complaints = append(complaints, p.folder+" has two lines")
			}
			used[p.folder] = false
		}
	}
	for _, name := range packages {
		folder := lineOf(used, name)
		if folder == "" {
			complaints = append(complaints, name+" has no line")
		}
		used[folder] = true
	}
	for _, r := range rooms {
		for _, p := range r.packages {
			if !used[p.folder] {
				complaints = append(complaints, p.folder+" has no package")
			}
		}
	}
	return complaints
}

// lineOf returns the folder of the line for a package: its own, else the nearest above with /*.
func lineOf(lines map[string]bool, name string) string {
	if name == "" {
		name = "."
	}
	if _, is := lines[name]; is {
		return name
	}
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		if _, is := lines[name[:at]+"/*"]; is {
			return name[:at] + "/*"
		}
	}
	return ""
}

// readRooms reads rooms.txt.
func readRooms(t *testing.T) (rooms []room) {
	t.Helper()
	text, err := os.ReadFile("rooms.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, isRoom := strings.CutPrefix(head, "room ")
		var last *room
		if len(rooms) > 0 {
			last = &rooms[len(rooms)-1]
		}
		switch {
		case head == "" || strings.HasPrefix(line, "#"):
		case isRoom && rest != "":
			rooms = append(rooms, room{name: name, purpose: rest})
		case last == nil || rest == "":
			t.Fatalf("rooms.txt: %q; hint: room NAME: purpose, then FOLDER: what it knows", line)
		case head == "imports" && len(last.packages) > 0:
			p := &last.packages[len(last.packages)-1]
			p.limited = true
			if rest != "nothing" {
				p.imports = strings.Fields(rest)
			}
		default:
			last.packages = append(last.packages, placed{folder: head, knows: rest})
		}
	}
	return rooms
}

// asTables writes the rooms for the paper. A folder within its room is written without it.
func asTables(rooms []room) string {
	var b strings.Builder
	for _, r := range rooms {
		fmt.Fprintf(&b, "\n### %s: %s\n\n| folder | what it knows |\n|---|---|\n", r.name, r.purpose)
		for _, p := range r.packages {
			folder := strings.TrimPrefix(p.folder, r.name+"/")
			if folder != "." && !strings.HasSuffix(folder, "*") {
				folder += "/"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", folder, p.knows)
		}
	}
	return b.String() + "\n"
}
