package toolcache_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"collie/internal/source/upstream/toolcache"
)

// A stored list comes back after a restart, with each definition byte for byte.
func TestCacheKeepsWhatAServerTold(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	c := b.open(t)
	wantVerdict(t, c, newWant("trains", 1), toolcache.Miss, "no_entry")
	stored := newEntry(1, "search", "book")
	stored.Prompts = []json.RawMessage{json.RawMessage(`{"name":"p"}`)}
	stored.Instructions, stored.Truncated = "Use it.", true
	stored.Dropped = []toolcache.Dropped{{Name: "bad", Reason: "no schema"}}
	if !c.Store("trains", stored) {
		t.Error("a first list is not a changed one")
	}
	mustClose(t, c)
	got := wantVerdict(t, b.open(t), newWant("trains", 1), toolcache.Hit, "")
	if got == nil {
		t.Fatal(b.read(t), b.log)
	}
	for i, def := range got.Tools {
		if !bytes.Equal(def, stored.Tools[i]) {
			t.Errorf("tool %d is %s, want it byte for byte: %s", i, def, stored.Tools[i])
		}
	}
	if len(got.Tools) != 2 || len(got.Prompts) != 1 || got.Instructions != "Use it." || !got.Truncated || got.Dropped[0].Name != "bad" {
		t.Errorf("entry is %+v", got)
	}
}
