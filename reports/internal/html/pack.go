package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// A packed is the cells of a design in a matrix, compressed. A page has some fifty of each design,
// with their evidence, and a reader opens a few. base.js unpacks them when the reader comes near.
type packed struct {
	*document.Section        // the design, with the cells alone
	Text              string // a JSON object of packedCells, compressed by gzip, in base64 for URLs
}

// packedCells are the content of a packed.
type packedCells struct {
	HTML     string                        `json:"html"`
	Pictures map[string]*document.Timeline `json:"pictures"` // by their ID
}

// pack returns blocks with the cells of designs compressed.
func pack(blocks []document.Block) (all []document.Block, err error) {
	for _, b := range blocks {
		if s, ok := b.(*document.Section); ok {
			if b, err = packSection(s); err != nil {
				return nil, err
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// packSection returns a section with the cells in it compressed, after everything else, if it is about
// a design.
func packSection(s *document.Section) (_ *document.Section, err error) {
	rest, cells := *s, *s
	if s.Role != document.Subject {
		rest.Blocks, err = pack(s.Blocks)
		return &rest, err
	}
	rest.Blocks, cells.Blocks = nil, nil
	for _, b := range s.Blocks {
		if c, ok := b.(*document.Section); ok && c.Role == document.Cell {
			cells.Blocks = append(cells.Blocks, b)
		} else {
			rest.Blocks = append(rest.Blocks, b)
		}
	}
	if cells.Blocks == nil {
		return s, nil
	}
	content := packedCells{Pictures: pictured(cells.Blocks)}
	var html, text bytes.Buffer
	if err := nodesOf(cells.Blocks).Render(&html); err != nil {
		return nil, err
	}
	content.HTML = html.String()
	to := base64.NewEncoder(base64.RawURLEncoding, &text)
	zip, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{func() error { return json.NewEncoder(zip).Encode(content) }, zip.Close, to.Close} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	rest.Blocks = append(rest.Blocks, &packed{&cells, text.String()})
	return &rest, nil
}

// pictured returns the timelines among blocks that a page draws, by their ID.
func pictured(blocks []document.Block) map[string]*document.Timeline {
	all := make(map[string]*document.Timeline)
	each(blocks, func(b document.Block) {
		if t, ok := b.(*document.Timeline); ok {
			all[t.ID] = t
		}
	})
	return all
}
