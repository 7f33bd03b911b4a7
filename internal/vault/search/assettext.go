package search

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that search the texts of assets.

const (
	// maxAssetText bounds an asset whose text is searched, in bytes.
	maxAssetText = 4 << 20
	// maxAssetTexts bounds the text that a search reads, in bytes, newest assets first.
	maxAssetTexts = 256 << 20
	// assetPageSize is SiYuan's fixed size of a page.
	assetPageSize = 32
)

// textExts are the extensions of assets that are plain text. The vault reads no others, such as PDF.
var textExts = []string{".txt", ".md"}

// assetText is the text of an asset.
type assetText struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Ext     string `json:"ext"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	HSize   string `json:"hSize"`
	Updated int64  `json:"updated"`
	Content string `json:"content"` // HTML
}

// searchAssetContent finds words in the texts of assets.
func searchAssetContent(tx *workspace.Tx, req api.Request) api.Reply {
	words := strings.Fields(req.OptStr("query"))
	p := paging{max(min(req.OptNum("page", 1), maxPage), 1), assetPageSize}
	types := req.Get("types")
	hits := []assetText{}
	bytesRead := int64(0)
	for _, f := range textFiles(tx) {
		if bytesRead += f.Size; len(words) == 0 || bytesRead > maxAssetTexts {
			break
		}
		if types.Exists() && !types.Get(`\`+path.Ext(f.Path)).Bool() {
			continue
		}
		data := tx.ReadFile(f.Path)
		text := foldCase(string(data))
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, foldCase(word)) }) {
			hits = append(hits, newAssetText(f, data, wordMarker(words)))
		}
	}
	return api.OK(map[string]any{
		"assetContents": pageItems(p, hits), "matchedAssetCount": len(hits), "pageCount": p.count(len(hits)),
	})
}

// getAssetContent returns the text of an asset by the id from a search, null if there is none.
func getAssetContent(tx *workspace.Tx, req api.Request) api.Reply {
	id, words := req.Str("id"), strings.Fields(req.Str("query"))
	for _, f := range textFiles(tx) {
		if textID(f) == id {
			return api.OK(map[string]any{"assetContent": newAssetText(f, tx.ReadFile(f.Path), wordMarker(words))})
		}
	}
	return api.OK(map[string]any{"assetContent": nil})
}

// textFiles returns the assets that are text, newest first.
func textFiles(tx *workspace.Tx) []workspace.File {
	return slices.DeleteFunc(assetFiles(tx), func(f workspace.File) bool {
		return f.Size > maxAssetText || !slices.Contains(textExts, path.Ext(f.Path))
	})
}

func newAssetText(f workspace.File, data []byte, mark marker) assetText {
	return assetText{
		ID: textID(f), Name: shownName(f.Path), Ext: path.Ext(f.Path), Path: strings.TrimPrefix(f.Path, "/data/"), Size: f.Size,
		HSize: shownSize(f.Size), Updated: f.Changed.Unix(), Content: mark(strings.ToValidUTF8(string(data), "\ufffd")),
	}
}

// textID returns an id derived from an asset's path and modification time, so that none needs to be stored.
func textID(f workspace.File) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(f.Path))
	tail := make([]byte, 7)
	for i := range tail {
		tail[i] = digits[int(sum[i])%len(digits)]
	}
	return tree.Stamp(f.Changed) + "-" + string(tail)
}

// shownSize returns a size for people, in steps of 1,000.
func shownSize(size int64) string {
	if size < 1000 {
		return fmt.Sprintf("%d B", size)
	}
	number, units := float64(size), []string{"kB", "MB", "GB"}
	for _, unit := range units {
		if number /= 1000; number < 1000 || unit == "GB" {
			return fmt.Sprintf("%.2f %s", number, unit)
		}
	}
	return ""
}
