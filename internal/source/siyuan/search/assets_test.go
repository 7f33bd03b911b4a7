package search_test

import (
	"slices"
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

const (
	assetID    = "20260101000000-aaaaaaa"
	openAsset  = "assets/note " + assetID + ".txt"
	hideAsset  = "assets/CANARY-" + assetID + ".txt"
	looseAsset = "assets/loose-" + assetID + ".txt" // in no document, so nobody can see it while a notebook is hidden
)

// addAssets writes assets. Three of them have a text, which begins with word; after each of those it calls written
// with their number so far.
func addAssets(w *workspace, word string, written func(n int)) {
	for i, file := range [][2]string{{openAsset, " asset 你好"}, {hideAsset, " CANARY"}, {looseAsset, " loose"}} {
		w.File("/data/"+file[0], []byte(word+file[1]))
		written(i + 1)
	}
	w.File("/data/assets/pic-"+assetID+".png", []byte{1})
	w.Doc(w.fruit, "/Assets", "[note](assets/note%20"+assetID+".txt) ![](assets/pic-"+assetID+".png)")
	w.Doc(w.secret, "/CANARY assets", "[x]("+hideAsset+")")
}

func TestSearchAssets(t *testing.T) {
	w := newWorkspace(t)
	addAssets(w, "hello", func(int) {})
	if got := w.runAction("search_assets"); got.Get("total").Int() != 4 {
		t.Errorf("all: %s", got.Raw)
	}
	// k is an alias of query, which wins.
	if got := w.runAction("search_assets", "k", "zzz", "query", "PIC", "exts", []string{"PNG"}); got.Get("data.0.name").Str != "pic.png" {
		t.Errorf("by name and type: %s", got.Raw)
	}
	w.hideSecret()
	got := w.runAction("search_assets")
	w.checkTellsNothing(got)
	paths := actiontest.Members(got.Get("data"), "path")
	if len(paths) != 2 || !slices.Contains(paths, openAsset) || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s", got.Raw)
	}
}

func TestFulltextAssetContent(t *testing.T) {
	w := newWorkspace(t)
	word := "hello" + w.doc[15:] // a real kernel remembers the texts of files from runs before
	addAssets(w, word, func(n int) {
		w.waitUntil("the texts of files are indexed", func() bool {
			return w.runAction("fulltext_asset_content", "query", word).Get("total").Int() == int64(n)
		})
	})
	all := w.runAction("fulltext_asset_content", "query", word, "types", []string{"txt"}, "sortBy", 3, "pageSize", 2)
	if all.Get("total").Int() != 3 || all.Get("data.#").Int() != 2 || !all.Get("hasNextPage").Bool() {
		t.Errorf("got %s", all.Raw)
	}
	if sent := w.Asked("/api/search/fullTextSearchAssetContent"); sent[len(sent)-1].Get("types").Raw != `{".txt":true}` {
		t.Errorf("sent %s", sent)
	}
	var hidden, visible string
	for _, hit := range w.runAction("fulltext_asset_content", "query", word).Get("data").Array() {
		switch hit.Get("path").Str {
		case hideAsset:
			hidden = hit.Get("id").Str
		case openAsset:
			visible = hit.Get("id").Str
			if hit.Get("plainContent").Str != word+" asset 你好" || hit.Get("content").Str != "<mark>"+word+"</mark> asset 你好" {
				t.Errorf("hit %s", hit.Raw)
			}
		}
	}
	w.hideSecret()
	got := w.runAction("fulltext_asset_content", "query", word)
	w.checkTellsNothing(got)
	if got.Get("total").Int() != 1 || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s", got.Raw)
	}
	if one := w.runAction("fulltext_asset_content", "assetId", visible, "query", "你好", "queryMethod", 0); one.Get("data.0.path").Str != openAsset {
		t.Errorf("one: %s", one.Raw)
	}
	w.checkHiddenLikeMissing("fulltext_asset_content", hidden, "assetId", hidden)
	w.checkRefused(tool.NotFound, "fulltext_asset_content", "assetId", "../x")
	w.checkRefused(tool.Conflicting, "fulltext_asset_content")
}
