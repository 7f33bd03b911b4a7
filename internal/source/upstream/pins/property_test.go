package pins_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/source/upstream/pins"
)

// Once pinned, a definition is replaced only by an approval, whatever two processes see and in whatever order they
// write and end.
func TestPinnedDefinitionsStay(t *testing.T) {
	t.Parallel()
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs), "pins.json")
		open := func() *pins.Store { return pins.Open(path, hash, pins.Options{}) }
		stores := []*pins.Store{open(), open()}
		defer func() {
			for _, s := range stores {
				_ = s.Close()
			}
		}()
		name := func(i int) string { return fmt.Sprint("工具", i) }
		def := func(i, v int) json.RawMessage {
			return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":"version %d"}`, name(i), v))
		}
		pinned := map[int]int{} // what all processes agree on
		flush := func() {       // everything is written and read
			for i := range stores {
				if err := stores[i].Close(); err != nil {
					t.Fatal(err)
				}
				stores[i] = open()
			}
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			who := stores[rapid.IntRange(0, 1).Draw(t, "who")]
			i, v := rapid.IntRange(0, 2).Draw(t, "tool"), rapid.IntRange(0, 3).Draw(t, "version")
			switch rapid.SampledFrom([]string{"see", "see", "see", "stored", "approve", "restart"}).Draw(t, "act") {
			case "see":
				changes := who.Check("a", []json.RawMessage{def(i, v)}, true)
				if was, ok := pinned[i]; ok && (len(changes) == 1) == (was == v) {
					t.Fatalf("tool %d is pinned at %d, and %d gives %v", i, was, v, changes)
				}
				if _, ok := pinned[i]; !ok {
					pinned[i] = v
					flush()
				}
			case "stored":
				for _, c := range who.Check("a", []json.RawMessage{def(i, v)}, false) {
					if was, ok := pinned[i]; ok && was == v {
						t.Fatalf("what is pinned is %s in a stored list", c.Kind)
					}
				}
			case "approve":
				waiting := who.Pending("a")
				for _, c := range waiting {
					if c.Now == nil || c.Was == nil || len(c.Fields) == 0 {
						t.Fatalf("a person is to approve %+v", c)
					}
				}
				if _, err := who.Approve(t.Context(), "a", shown(who)); err != nil {
					t.Fatal(err)
				}
				for k := range 3 {
					if c, ok := waiting[name(k)]; ok {
						pinned[k] = int(c.Now[len(c.Now)-3] - '0')
					}
				}
			case "restart":
				flush()
			}
		}
		flush()
		for k, v := range pinned {
			if got := stores[0].Check("a", []json.RawMessage{def(k, v)}, false); len(got) != 0 {
				t.Fatalf("tool %d was pinned at %d, and is not any more: %v", k, v, got)
			}
		}
	})
}
