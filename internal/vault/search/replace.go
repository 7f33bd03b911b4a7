package search

import (
	"regexp"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// findReplace replaces, ignoring case, in the given blocks and those inside them, in texts of the given kinds;
// without kinds it does nothing. In a document it can change the title.
func findReplace(tx *workspace.Tx, req api.Request) api.Reply {
	find, with := req.Str("k"), req.Str("r")
	if find == "" || find == with {
		return api.Done()
	}
	anyCase := regexp.MustCompile("(?i)" + regexp.QuoteMeta(find))
	replace := func(text string) string { return anyCase.ReplaceAllLiteralString(text, with) }
	if req.OptNum("method", methodKeyword) == methodRegexp {
		pattern, err := regexp.Compile(find)
		if err != nil {
			return api.Done()
		}
		replace = func(text string) string { return pattern.ReplaceAllString(text, with) }
	}
	types := req.Get("replaceTypes")
	in := func(kind string) bool { return types.Get(kind).Bool() }
	for _, id := range req.OptStrs("ids") {
		b := tx.Block(id)
		switch {
		case b == nil:
		case b.Kind == tree.Doc:
			if in("docTitle") {
				edit.KeepBefore(tx, b.Doc)
				b.Attrs["title"] = replace(b.Attrs["title"])
			}
		default:
			edit.KeepBefore(tx, b.Doc)
			b.Walk(func(leaf *tree.Block) {
				if !leaf.Container() {
					leaf.Text = replaceInLeaf(leaf, replace, in)
				}
			})
		}
	}
	return api.Done()
}

// wholeTexts are the leaves whose text is replaced as a whole, by their names in a replacement.
var wholeTexts = map[string]string{tree.Code: "codeBlock", tree.Math: "mathBlock", tree.HTML: "htmlBlock"}

// replaceInLeaf returns the text of a leaf with its spans of some kinds replaced.
func replaceInLeaf(b *tree.Block, replace func(string) string, in func(kind string) bool) string {
	if name := wholeTexts[b.Kind]; name != "" {
		if in(name) {
			return replace(b.Text)
		}
		return b.Text
	}
	var out strings.Builder
	for _, s := range markup.Spans(b.Text) {
		switch kind := spanName(s.Kind); {
		case kind == "text" && in(kind):
			out.WriteString(replace(s.Markdown))
		case kind != "text" && in(kind):
			out.WriteString(strings.Replace(s.Markdown, s.Content, replace(s.Content), 1))
		default:
			out.WriteString(s.Markdown)
		}
	}
	return out.String()
}

// spanName returns the name of a kind of span in a replacement.
func spanName(kind string) string {
	switch kind {
	case "":
		return "text"
	case "a", "img":
		return kind + "Text"
	}
	return kind
}
