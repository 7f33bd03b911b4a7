package entry_test

import (
	"encoding/json"
	"testing"

	"collie/internal/source/upstream/entry"
)

// Machines that keep a server in different folders share its lists. A difference in its other arguments still counts.
func TestPortableHash(t *testing.T) {
	t.Parallel()
	hash := func(raw, dir string) string {
		e, _ := entry.Parse("s", json.RawMessage(raw), entry.Options{Dir: dir})
		return e.PortableHash([]byte("key"))
	}
	here := hash(`{"command":"/home/a/bin/notes","args":["--root","/home/a/notes","-v"],"env":{"K":"v"}}`, "/home/a")
	for name, tt := range map[string]struct {
		raw, dir string
		same     bool
	}{
		"other folders":     {`{"command":"/srv/bin/notes","args":["--root","/srv/data/notes","-v"],"env":{"K":"v"}}`, "/srv", true},
		"another program":   {`{"command":"/srv/bin/tasks","args":["--root","/srv/data/notes","-v"],"env":{"K":"v"}}`, "/srv", false},
		"another argument":  {`{"command":"/srv/bin/notes","args":["--root","/srv/data/notes"],"env":{"K":"v"}}`, "/srv", false},
		"another last part": {`{"command":"/srv/bin/notes","args":["--root","/srv/data/tasks","-v"],"env":{"K":"v"}}`, "/srv", false},
		"another secret":    {`{"command":"/srv/bin/notes","args":["--root","/srv/data/notes","-v"],"env":{"K":"w"}}`, "/srv", false},
	} {
		if got := hash(tt.raw, tt.dir) == here; got != tt.same {
			t.Errorf("%s: same hash is %v, want %v", name, got, tt.same)
		}
	}
}
