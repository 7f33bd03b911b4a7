package catalogs_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"github.com/tidwall/gjson"

	"collie/test/catalogs"
)

// Every recorded server has a licence and tools, and no definition occurs twice.
func TestRecorded(t *testing.T) {
	t.Parallel()
	servers := catalogs.Servers()
	if len(servers) < 12 {
		t.Errorf("%d servers are recorded, want 12 or more", len(servers))
	}
	for _, s := range servers {
		if text, err := os.ReadFile(filepath.Join("LICENSES", s.Name)); err != nil || len(text) < 500 {
			t.Errorf("%s has no licence beside it: %v, %d bytes", s.Name, err, len(text))
		}
		names := map[string]bool{}
		for _, def := range s.Tools {
			name := gjson.GetBytes(def, "name").String()
			if !gjson.ValidBytes(def) || name == "" || names[name] || !gjson.GetBytes(def, "inputSchema").IsObject() {
				t.Errorf("%s: %q is not the definition of one tool", s.Name, name)
			}
			names[name] = true
		}
		if len(names) == 0 {
			t.Errorf("%s has no tools", s.Name)
		}
	}
}

// Enough of the recorded tools are described in Chinese.
func TestChinese(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range catalogs.Servers() {
		for _, def := range s.Tools {
			for _, r := range gjson.GetBytes(def, "description").String() {
				if unicode.Is(unicode.Han, r) {
					n++
					break
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d tools are described in Chinese, want 100 or more", n)
	}
}
