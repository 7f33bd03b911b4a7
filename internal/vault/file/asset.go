package file

import (
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

func getDocAssets(tx *workspace.Tx, req api.Request) api.Reply { return docAssets(tx, req, "img", "a") }

func getDocImageAssets(tx *workspace.Tx, req api.Request) api.Reply { return docAssets(tx, req, "img") }

// docAssets lists the assets that the spans of some kinds in a block's document name, each once, in order.
func docAssets(tx *workspace.Tx, req api.Request, kinds ...string) api.Reply {
	b := tx.Block(req.Str("id"))
	if b == nil {
		return api.Fail(-1, "tree not found")
	}
	found := []string{}
	b.Doc.Root.Walk(func(b *tree.Block) {
		for _, target := range assetsOf(b, kinds) {
			if !slices.Contains(found, target) {
				found = append(found, target)
			}
		}
	})
	return api.OK(found)
}

// assetsOf returns the addresses of assets in the text of a leaf.
func assetsOf(b *tree.Block, kinds []string) (targets []string) {
	switch b.Kind {
	case tree.Paragraph, tree.Heading, tree.Table:
	default:
		return nil
	}
	for _, s := range markup.Spans(b.Text) {
		if slices.Contains(kinds, s.Kind) && strings.HasPrefix(s.Target, "assets/") {
			targets = append(targets, s.Target)
		}
	}
	return targets
}
