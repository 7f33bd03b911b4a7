package file

import (
	"fmt"
	"math"
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

// assetsOf are the addresses of assets in the text of a leaf.
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

func statAsset(tx *workspace.Tx, req api.Request) api.Reply {
	p, ok := assetFile(req.Str("path"))
	f := tx.Stat(p)
	if !ok || f == nil || f.Dir {
		return api.Fail(1, "")
	}
	at, shown := f.Changed.UnixMilli(), f.Changed.Format("2006-01-02 15:04:05")
	return api.OK(map[string]any{
		"created": at, "updated": at, "hCreated": shown, "hUpdated": shown, "size": f.Size, "hSize": shownSize(f.Size),
	})
}

// shownSize writes a number of bytes for people, rounded up: 74 B, 12.87 kB.
func shownSize(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, units := float64(n), []string{"kB", "MB", "GB"}
	for i, unit := range units {
		if size /= 1000; size < 1000 || i == len(units)-1 {
			return fmt.Sprintf("%.2f %s", math.Ceil(size*100)/100, unit)
		}
	}
	return ""
}
