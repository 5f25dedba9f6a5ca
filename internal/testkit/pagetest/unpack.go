package pagetest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"testing"
)

var (
	packed  = regexp.MustCompile(` data-packed="([^"]+)"><p class="note">.*?</p>`)
	picture = regexp.MustCompile(` data-picture="([^"]+)"`)
)

// Unpack returns a page with the compressed cells of each design in their place, as the scripts of the
// page put them there. The data of their pictures follows each. It fails t if what is compressed is
// damaged, or a picture has no data.
func Unpack(t testing.TB, page string) string {
	t.Helper()
	return packed.ReplaceAllStringFunc(page, func(host string) string {
		html, pictures, err := decode(packed.FindStringSubmatch(host)[1])
		if err != nil {
			t.Fatalf("compressed cells: %v", err)
		}
		for _, id := range picture.FindAllStringSubmatch(html, -1) {
			if pictures[id[1]] == nil {
				t.Errorf("picture %s has no data", id[1])
			}
		}
		for _, data := range pictures {
			html += `<script type="application/json">` + string(data) + `</script>`
		}
		return ">" + html
	})
}

func decode(text string) (html string, pictures map[string]json.RawMessage, err error) {
	compressed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", nil, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return "", nil, err
	}
	var content struct {
		HTML     string
		Pictures map[string]json.RawMessage
	}
	err = json.NewDecoder(zip).Decode(&content)
	return content.HTML, content.Pictures, err
}
