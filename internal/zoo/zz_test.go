package zoo_test
import ("testing";"fmt";"github.com/lockbench/lockbench/internal/zoo")
func TestZZ(t *testing.T){
 for _, m := range zoo.Mutants() { if m.Name=="blip-is-loss"||m.Name=="revived" { r:=caught(t,m,5000); for c,w:=range r.Witnesses { if c.Guarantee=="loss-reported" {fmt.Println(m.Name,c,"\n",string(w.Replay.Text))}}}}
}
