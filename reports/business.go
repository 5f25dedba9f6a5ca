package reports

import "github.com/lockbench/lockbench/reports/internal/document"

// business says what runs came to in the words of their workload.
func (s *summary) business() *document.List {
	l := &document.List{Title: "what the business came to"}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		b := run.Business
		if b == nil {
			continue
		}
		item := document.Item{Name: s.label.Of(run), Text: b.Says}
		if b.Why != "" {
			item.Text, item.Tone = "nothing is known: "+b.Why, document.Weak
		}
		if run.Damage() > 0 {
			item.Tone = document.Weak
		}
		l.Items = append(l.Items, item)
	}
	return l
}
