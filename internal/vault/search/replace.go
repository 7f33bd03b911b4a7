package search

import (
	"regexp"
	"unicode/utf8"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// findReplace replaces text in blocks and the blocks inside them, ignoring case unless the text is a regular expression.
// Only texts of the kinds in replaceTypes are changed, so nothing if the request has none. Of a document only the title
// can be changed.
func findReplace(tx *workspace.Tx, req api.Request) api.Reply {
	find, replacement := req.Str("k"), req.Str("r")
	if find == "" || find == replacement {
		return api.Done()
	}
	anyCase := regexp.MustCompile("(?i)" + regexp.QuoteMeta(find))
	replace := func(text string) string { return anyCase.ReplaceAllLiteralString(text, replacement) }
	if req.OptNum("method", methodKeyword) == methodRegexp {
		pattern, err := regexp.Compile(find)
		if err != nil {
			return api.Done()
		}
		replace = func(text string) string { return pattern.ReplaceAllString(text, replacement) }
	}
	types := req.Get("replaceTypes")
	r := replacer{replace: replace, isReplaced: func(kind string) bool { return types.Get(kind).Bool() }}
	for _, id := range req.OptStrs("ids") {
		b := tx.Block(id)
		switch {
		case b == nil:
		case b.Kind == tree.Doc:
			if r.isReplaced("docTitle") {
				replaceInTitle(tx, b.Doc, replace)
			}
		default:
			edit.SaveBefore(tx, b.Doc)
			b.Walk(func(leaf *tree.Block) {
				if !leaf.Container() {
					leaf.Text = r.inLeaf(leaf)
				}
			})
		}
	}
	return api.Done()
}

// replaceInTitle replaces text in the title of a document, as a rename does. A title that would be too long stays.
func replaceInTitle(tx *workspace.Tx, d *tree.Document, replace func(string) string) {
	old := d.Root.Attrs["title"]
	title := replace(old)
	if title == old || utf8.RuneCountInString(title) > edit.MaxTitle {
		return
	}
	edit.SaveBefore(tx, d)
	edit.Rename(d, title)
}
