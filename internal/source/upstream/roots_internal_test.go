package upstream

import (
	"testing"

	"github.com/tidwall/gjson"
)

// A root is told as a URI, whose path begins with a slash also where a folder begins with the letter of a drive.
func TestRootsAreURIs(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{
		"/home/a b/笔记": "file:///home/a%20b/%E7%AC%94%E8%AE%B0", "C:/work": "file:///C:/work", "//server/share": "file:////server/share",
		"https://example.com/x": "https://example.com/x",
	} {
		if got := gjson.GetBytes(rootsResult([]string{root}), "roots.0.uri").String(); got != want {
			t.Errorf("%s is told as %s, want %s", root, got, want)
		}
	}
}
