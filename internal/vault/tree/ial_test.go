package tree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/vault/tree"
)

// TestAttributesSurvive writes attributes and reads them back, including values with escape characters.
func TestAttributesSurvive(t *testing.T) {
	t.Parallel()
	parts := []string{"_esc_newline_", "_", "esc_newline_", "_esc_newline", "\n", "&", "&amp;", "&#95;", "&quot;", `"`, "{: ", "}", "<", " ", "=", "文", "\x00", "\\"}
	rapid.Check(t, func(rt *rapid.T) {
		want := map[string]string{"id": "20240801000000-aaaaaaa"}
		for range rapid.IntRange(0, 4).Draw(rt, "attributes") {
			value := ""
			for range rapid.IntRange(0, 5).Draw(rt, "parts") {
				value += rapid.SampledFrom(parts).Draw(rt, "part")
			}
			want[rapid.StringMatching("[a-z_:][a-z0-9_:.-]{0,8}").Draw(rt, "name")] = value
		}
		if diff := cmp.Diff(want, tree.ParseIAL(tree.IAL(want))); diff != "" {
			rt.Fatal(diff)
		}
	})
}
