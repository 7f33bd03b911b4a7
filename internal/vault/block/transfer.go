package block

import (
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// transferBlockRef makes references to one block refer to another, in all blocks or in those of refIDs. Static anchors
// stay, dynamic ones show the text of the new target. A list item in refIDs includes the blocks in it. The old target
// need not exist any more. If the new one does not exist, nothing is changed and there is no error.
func transferBlockRef(tx *workspace.Tx, req api.Request) api.Reply {
	from, to := req.ID("fromID"), req.ID("toID")
	only := req.OptStrs("refIDs")
	target := tx.Block(to)
	if target == nil {
		return api.Done()
	}
	for _, b := range tx.Referrers(from) {
		if only != nil && !slices.Contains(only, b.ID) && !slices.Contains(only, itemOrSelf(b).ID) {
			continue
		}
		for _, ref := range markup.References(b) {
			if anchor, isReference := strings.CutPrefix(ref.Markdown, "(("+from); isReference { // embedded queries stay
				edit.SaveBefore(tx, b.Doc)
				b.Text = strings.ReplaceAll(b.Text, ref.Markdown, "(("+to+anchor)
			}
		}
		b.Text = workspace.TextWithAnchors(b, target)
	}
	return api.Done()
}
