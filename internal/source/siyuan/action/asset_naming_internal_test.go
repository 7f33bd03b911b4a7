package action

import (
	"html"
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

// An asset of any name is found in each form in which a document may write it.
func TestNamingFindsAllForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := "assets/" + rapid.StringMatching(`[a-z &'"<>()+,;=@$!#?中é.~-]{1,12}`).Draw(t, "name") + ".png"
		other := "assets/other 1.png"
		for _, form := range []string{
			name, html.EscapeString(name), (&url.URL{Path: name}).EscapedPath(), "assets/" + url.PathEscape(name[len("assets/"):]),
			html.EscapeString((&url.URL{Path: name}).EscapedPath()),
		} {
			n := NewAssetMentions([]string{name, other, "notebook/" + other})
			n.AddText(`见 "` + form + `" here`)
			if !n.Has(name) || n.Has(other) {
				t.Fatalf("%q in %q: %v, another: %v", name, form, n.Has(name), n.Has(other))
			}
		}
	})
}
