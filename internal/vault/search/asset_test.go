package search_test

import (
	"strings"
	"testing"
	"time"

	"collie/internal/vault/workspace"
)

// TestAssets searches for assets by their names, and for texts in them.
func TestAssets(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.Update(func(tx *workspace.Tx) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
		tx.WriteFile("/data/assets/笔记 note-20260102030405-abcdefg.txt", []byte("hello <b> 你好"), at)
		tx.WriteFile("/data/assets/sub/red.png", []byte("hello"), at.Add(time.Second))
		tx.WriteFile("/data/assets/big.md", []byte(strings.Repeat("x", 2500)), at.Add(2*time.Second))
	})
	found := v.Ask("/api/search/searchAsset", object{"k": "NOTE"})
	if len(found.Array()) != 1 || found.Get("0.hName").String() != "笔记 <mark>note</mark>.txt" ||
		found.Get("0.path").String() != "assets/笔记 note-20260102030405-abcdefg.txt" {
		t.Errorf("%s", found)
	}
	if found = v.Ask("/api/search/searchAsset", object{"k": "", "exts": []string{".png", ".md"}}); found.Get("#.hName").Raw != `["big.md","red.png"]` {
		t.Errorf("%s", found)
	}
	found = v.Ask("/api/search/fullTextSearchAssetContent", object{"query": "HELLO 你"})
	first := found.Get("assetContents.0")
	if found.Get("matchedAssetCount").Int() != 1 || first.Get("content").String() != "<mark>hello</mark> &lt;b&gt; <mark>你</mark>好" ||
		first.Get("hSize").String() != "16 B" || first.Get("name").String() != "笔记 note.txt" {
		t.Errorf("%s", found)
	}
	again := v.Ask("/api/search/getAssetContent", object{"id": first.Get("id").String(), "query": "你好", "queryMethod": 0})
	if again.Get("assetContent.content").String() != "hello &lt;b&gt; <mark>你好</mark>" {
		t.Errorf("%s", again)
	}
	if found = v.Ask("/api/search/fullTextSearchAssetContent", object{"query": "xx", "types": object{".md": true}}); found.Get("assetContents.0.hSize").String() != "2.50 kB" {
		t.Errorf("%s", found)
	}
	if found = v.Ask("/api/search/fullTextSearchAssetContent", object{"query": "xx", "types": object{".txt": true}}); found.Get("matchedAssetCount").Int() != 0 {
		t.Errorf("%s", found)
	}
}
