package inits_test

import (
	"strings"
	"testing"

	"collie/test/binary"
	"collie/test/inits"
)

// budget is how many bytes our own packages may allocate before main. Every command pays for them, and the reaper
// process keeps them in memory.
const budget = 200 << 10

// libraries lists packages of others, by prefix, that allocate more than a little before main, with the reason why
// that is accepted.
var libraries = map[string]string{
	"github.com/88250/lute":                "tables of Markdown and of HTML's entities, which are its package variables; a copy of the library would be dear to keep",
	"github.com/yuin/goldmark":             "the same, of the CommonMark parser",
	"github.com/charmbracelet/ultraviolet": "tables of keys and colours of terminals, for collie chat; bubbletea draws through it",
	"encoding/gob":                         "comes with the client of NATS, which names it for an encoder that nobody here uses",
	"github.com/klauspost/compress":        "tables of deflate",
	"go.yaml.in/yaml":                      "tables of tags, for the settings of Spring",
	"github.com/nats-io":                   "errors and headers, for a cache that is shared through NATS",
	"encoding/xml":                         "entities of HTML; comes with what reads property lists",
	"github.com/VictoriaMetrics":           "the default registry, which is empty",
	"runtime/metrics":                      "names of figures; comes with the former",
}

// little is how many bytes a library may allocate without being listed.
const little = 16 << 10

// Before main, our own packages stay within the budget, and no library allocates much without being listed.
func TestBeforeMain(t *testing.T) {
	t.Parallel()
	all, err := inits.Trace(t.Context(), binary.Build(t, binary.Collie))
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, p := range all {
		switch {
		case p.Ours():
			ours += p.Bytes
		case p.Bytes > little && !listed(p.Path):
			t.Errorf("%s allocates %d bytes before main; list it with a reason, or do without", p.Path, p.Bytes)
		}
	}
	if ours > budget {
		t.Errorf("our packages allocate %d bytes before main, at most %d may be:", ours, budget)
		for _, p := range all {
			if p.Ours() && p.Bytes > 4<<10 {
				t.Logf("%7d %s", p.Bytes, p.Path)
			}
		}
	}
}

// listed reports whether a package belongs to one of the libraries.
func listed(path string) bool {
	for prefix := range libraries {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
