package firewall

import (
	"fmt"
	"strings"
	"testing"
)

// The cache of member names is bounded in number and length of names, and gives the same results as without caching.
func TestNamesAreRememberedWithinBounds(t *testing.T) {
	t.Parallel()
	var r nameCache[member]
	names := []string{"cwd", "sql_query", "outputFile", strings.Repeat("x", maxName+1) + "_path"}
	for i := range 2 * maxRemembered {
		names = append(names, fmt.Sprintf("made_up_%d", i))
	}
	for range 2 {
		for _, name := range names {
			if got, want := *r.get(name, newMember), *newMember(name); got != want {
				t.Fatalf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
	known := *r.known.Load()
	if len(known) != maxRemembered {
		t.Errorf("%d names are remembered, want %d", len(known), maxRemembered)
	}
	for name := range known {
		if len(name) > maxName {
			t.Errorf("a name of %d bytes is remembered", len(name))
		}
	}
}
