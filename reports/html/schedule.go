package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/reports"
)

// schedulePicture draws the steps of an explored schedule, one after the other; nil when
// there are none.
func schedulePicture(steps []reports.Step) *picture {
	if len(steps) == 0 {
		return nil
	}
	p := &picture{Steps: true}
	for i := range steps {
		p.step(int64(i), &steps[i])
	}
	p.beliefs(steps)
	return p
}

func (p *picture) step(at int64, s *reports.Step) {
	l := &p.Lanes[p.lane(s.Client)]
	m := mark{Sign: stepSign(s), At: at, To: at, Bad: s.Fault != ""}
	m.Says = fmt.Sprintf("step %d, at %s, %s: %s", at+1, length(s.At), s.Client, s.Command)
	if s.Reply != "" {
		m.Says += " → " + s.Reply
	}
	if s.Fault != "" {
		m.Says += " (" + s.Fault + ")"
	}
	l.Marks = append(l.Marks, m)
}

// stepSign is the command itself, without what the client was about: acquire, release.
func stepSign(s *reports.Step) string {
	command := s.Command
	if _, after, found := strings.Cut(command, ": "); found {
		command = after
	}
	words := strings.Fields(command)
	if len(words) == 0 || s.Fault != "" {
		return "! " + s.Fault
	}
	return strings.TrimSuffix(words[0], ",")
}

// beliefs draws which clients believe to hold a key after each step, from a half before the next.
func (p *picture) beliefs(steps []reports.Step) {
	since := make(map[string]int)
	for i := range len(steps) + 1 {
		var holders []string
		if i < len(steps) {
			holders = steps[i].Holders
		}
		for client := range since {
			if !slices.Contains(holders, client) {
				p.believed(client, since[client], i)
				delete(since, client)
			}
		}
		for _, client := range holders {
			if _, known := since[client]; !known {
				since[client] = i
			}
		}
	}
	p.contested(steps)
}

func (p *picture) believed(client string, from, to int) {
	l := &p.Lanes[p.lane(client)]
	l.Bars = append(l.Bars, bar{believes, int64(from), int64(to), fmt.Sprintf("%s believes that it holds the lock, from step %d on", client, from+1)})
}

// contested marks the steps after which more than one believes to hold.
func (p *picture) contested(steps []reports.Step) {
	for i := range steps {
		who := steps[i].Holders
		if len(who) < 2 {
			continue
		}
		o := overlap{int64(i), int64(i + 1), true, strings.Join(who, " and ") + " believe that they hold the lock", [2]int{p.lane(who[0]), p.lane(who[1])}}
		if n := len(p.Overlaps); n > 0 && p.Overlaps[n-1].To == o.From && p.Overlaps[n-1].Says == o.Says {
			p.Overlaps[n-1].To = o.To
			continue
		}
		p.Overlaps = append(p.Overlaps, o)
	}
}
