package file

import (
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// getDocAssets serves /api/asset/getDocAssets: the addresses of assets in the images and links of a document.
func getDocAssets(tx *workspace.Tx, req api.Request) api.Reply { return docAssets(tx, req, "img", "a") }

// getDocImageAssets serves /api/asset/getDocImageAssets, which answers with those of images only.
func getDocImageAssets(tx *workspace.Tx, req api.Request) api.Reply { return docAssets(tx, req, "img") }

// docAssets returns the addresses of assets in the document of a block, in spans of some kinds: each once, in order.
func docAssets(tx *workspace.Tx, req api.Request, kinds ...string) api.Reply {
	b := tx.Block(req.Str("id"))
	if b == nil {
		return api.Fail(-1, "tree not found")
	}
	targets := []string{}
	b.Doc.Root.Walk(func(b *tree.Block) {
		for _, target := range assetsOf(b, kinds) {
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
		}
	})
	return api.OK(targets)
}

// assetsOf returns the addresses of assets in the spans of a leaf that have one of kinds.
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
