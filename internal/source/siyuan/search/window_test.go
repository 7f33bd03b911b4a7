package search_test

import (
	"fmt"
	"strings"
	"testing"
)

// Hits in texts that SiYuan has copied out of a hidden notebook do not count toward the limit of hits. Otherwise the
// number of hits of a search that reaches the limit would reveal what the copies say.
func TestHiddenHitsTakeNoPlace(t *testing.T) {
	w := newWorkspace(t)
	hidden := w.children(w.secretDoc)[0]
	var long strings.Builder
	const most = 1024 // hits that a filtered search looks at
	for i := range most + 6 {
		fmt.Fprintf(&long, "windowed elsewhere %d and many other words that say nothing at all\n\n", i)
	}
	const copies = 7 // hits by hidden text before the others and after them
	refs := strings.Repeat(fmt.Sprintf("((%s 'windowed'))\n\n", hidden), copies)
	w.Doc(w.fruit, "/First", refs)
	w.Doc(w.fruit, "/Window", long.String())
	last := w.Doc(w.fruit, "/Last", refs)
	w.hideSecret()
	for _, word := range []string{"windowed", "elsewhere"} {
		if got := w.runAction("search_refs", "id", last, "k", word); got.Get("total").Int() != 64 {
			t.Errorf("search_refs of %s: %d hits", word, got.Get("total").Int())
		}
		got := w.runAction("fulltext", "query", word, "orderBy", "created_asc")
		if got.Get("total").Int() != most || !got.Get("incomplete").Bool() {
			t.Errorf("fulltext of %s: %d hits, incomplete %s", word, got.Get("total").Int(), got.Get("incomplete").Raw)
		}
	}
}
