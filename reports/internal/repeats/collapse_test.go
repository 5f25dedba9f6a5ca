package repeats

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
)

func TestCollapsed(t *testing.T) {
	step := func(at int64, client, command, reply string) results.Step {
		return results.Step{At: at, Client: client, Command: command, Reply: reply, Holders: []string{"c1"}}
	}
	var poll, varied []results.Step
	for i := range int64(5) {
		poll = append(poll, step(10*i, "c2", fmt.Sprintf("SETNX k %d", i), "0"), step(10*i+1, "c2", "GET k", "v"))
		varied = append(varied, step(i, "c2", "EVALSHA script:1 1 k token#2", fmt.Sprint(90-i)))
	}
	poll[0].Command = "acquire: " + poll[0].Command
	affected := append([]results.Step{}, poll...)
	affected[5].Fault = "cut"
	cases := []struct {
		name        string
		steps, want []results.Step
	}{
		{"nothing", nil, nil},
		{"a poll of two commands", append(poll[:10:10], step(50, "c1", "DEL k", "1")), []results.Step{
			poll[0], poll[1], step(41, "c2", "(the same 4 times more)", ""), step(50, "c1", "DEL k", "1"),
		}},
		{"times left", varied, []results.Step{varied[0], step(4, "c2", "(the same 4 times more)", "")}},
		{"too few", poll[:4], poll[:4]},
		{"another client", []results.Step{step(0, "c1", "GET k", "v"), step(1, "c2", "GET k", "v"), step(2, "c3", "GET k", "v")}, []results.Step{step(0, "c1", "GET k", "v"), step(1, "c2", "GET k", "v"), step(2, "c3", "GET k", "v")}},
		{"another answer", []results.Step{step(0, "c1", "SETNX k", "0"), step(1, "c1", "SETNX k", "0"), step(2, "c1", "SETNX k", "1")}, []results.Step{step(0, "c1", "SETNX k", "0"), step(1, "c1", "SETNX k", "0"), step(2, "c1", "SETNX k", "1")}},
		{"a fault among them", affected, append(append([]results.Step{}, affected...)[:6], poll[6:]...)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(Collapsed(c.steps), c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}
