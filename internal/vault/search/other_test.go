package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/workspace"
)

// TestQuerySQL checks the answers of /api/query/sql to queries, to statements that would write, and to mistakes.
func TestQuerySQL(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.createDocument("Doc", "text")
	for _, tt := range []struct {
		body object
		want string
	}{
		{object{"stmt": "select 'z' as zeta, 1 as alpha, 1.5 as mid, null as n, x'00ff' as b"}, `{"code":0,"msg":"","data":[{"alpha":1,"b":"AP8=","mid":1.5,"n":null,"zeta":"z"}]}`},
		{object{"stmt": "select 9e999 as inf"}, `{"code":0,"msg":"","data":[{"inf":null}]}`},
		{object{"stmt": "select id from blocks where 0"}, `{"code":0,"msg":"","data":[]}`},
		{object{"stmt": "-- nothing"}, `{"code":0,"msg":"","data":null}`},
		{object{"stmt": "update blocks set memo = 'x'"}, `{"code":0,"msg":"","data":null}`},
		{object{"stmt": "update node set memo = 'x'"}, `{"code":1,"msg":"no such table: node","data":null}`},
		{object{"stmt": "drop table blocks"}, `{"code":1,"msg":"only SELECT is answered","data":null}`},
		{object{"stmt": "select 1; select 2"}, `{"code":-1,"msg":"SQL statement is not single","data":null}`},
		{object{"stmt": "select 1 as x; select 2 as y", "mode": "multiple"}, `{"code":0,"msg":"","data":[{"x":1}]}`},
		{object{"stmt": "pragma table_info(blocks)", "mode": "readonly"}, `{"code":-1,"msg":"SQL statement is not a read-only query","data":null}`},
		{object{"stmt": "select 1", "mode": "zzz"}, `{"code":-1,"msg":"unknown [mode]","data":null}`},
		{object{"stmt": " "}, `{"code":-1,"msg":"Field [stmt] must not be empty","data":null}`},
	} {
		if got := v.Answer("/api/query/sql", tt.body).Raw; got != tt.want {
			t.Errorf("%v: %s, want %s", tt.body, got, tt.want)
		}
	}
	// A failed request does not affect the next one.
	if got := v.Ask("/api/query/sql", object{"stmt": "select memo from blocks where content = 'text'"}).Raw; got != `[{"memo":""}]` {
		t.Error(got)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	doc, blocks := v.createDocument("Doc", "one #b# and #a/x#\n\ntwo #b# `#b#`\n\n# head #中文#")
	v.Update(func(tx *workspace.Tx) { tx.Block(doc).Attrs["tags"] = "b,c" })
	tags := func(sort int) (list []string) {
		for _, tag := range v.Ask("/api/tag/getTag", object{"sort": sort, "app": "test"}).Array() {
			list = append(list, tag.Get("label").String()+" "+tag.Get("count").String())
			for _, child := range tag.Get("children").Array() {
				list = append(list, "- "+child.Get("label").String()+" "+child.Get("count").String())
			}
		}
		return list
	}
	if diff := cmp.Diff([]string{"a 0", "- a/x 1", "b 3", "c 1", "中文 1"}, tags(0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b 3", "c 1", "中文 1", "a 0", "- a/x 1"}, tags(8)); diff != "" {
		t.Error(diff)
	}
	v.Ask("/api/tag/renameTag", object{"oldLabel": "a", "newLabel": "甲"})
	v.Ask("/api/tag/renameTag", object{"oldLabel": "b", "newLabel": "b/c"})
	if diff := cmp.Diff([]string{"b 0", "- b/c 3", "c 1", "中文 1", "甲 0", "- 甲/x 1"}, tags(0)); diff != "" {
		t.Error(diff)
	}
	if got := v.Block(blocks[0]).Text; got != "one #b/c# and #甲/x#" {
		t.Errorf("the text is %q", got)
	}
	if got := v.Block(blocks[1]).Text; got != "two #b/c# `#b#`" {
		t.Errorf("the text is %q", got)
	}
	if got := v.Block(doc).Attrs["tags"]; got != "b/c,c" {
		t.Errorf("the document has the tags %q", got)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, blocks := v.createDocument("Target 目标", "the target")
	v.createDocument("Doc", "see (("+blocks[0]+" 'it')) and ((20990101000000-zzzzzzz \"gone\"))\n\nfine (("+blocks[0]+" 'it'))")
	found := v.Ask("/api/search/listInvalidBlockRefs", object{"page": 1, "pageSize": 10})
	if got := found.Get("blocks.0.markdown").String(); found.Get("matchedBlockCount").Int() != 1 || got != "see (("+blocks[0]+" 'it')) and (( 'gone'))" {
		t.Errorf("%s", found)
	}
	body := object{"id": blocks[0], "rootID": blocks[0], "beforeLen": 16, "k": "目标", "reqId": 3}
	found = v.Ask("/api/search/searchRefBlock", body)
	if found.Get("blocks.0.content").String() != "Target <mark>目标</mark>" || found.Get("blocks.0.hPath").String() != "Notes 笔记/" ||
		found.Get("blocks.0.refText").String() != "Target 目标" || !found.Get("newDoc").Bool() || found.Get("reqId").Int() != 3 {
		t.Errorf("%s", found)
	}
	body["k"] = "Target 目标"
	if found = v.Ask("/api/search/searchRefBlock", body); found.Get("newDoc").Bool() {
		t.Errorf("a document has that title: %s", found)
	}
}

// TestNothingIsOfferedToItself checks that the blocks offered as targets of a reference do not include the referring block and
// its document.
func TestNothingIsOfferedToItself(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	doc, blocks := v.createDocument("Selfie", "selfie text\n\nanother selfie")
	for id, want := range map[string]int{blocks[0]: 1, blocks[1]: 1, doc: 2, "20990101000000-zzzzzzz": 3} {
		root := doc
		if want == 3 {
			root = id
		}
		got := v.Ask("/api/search/searchRefBlock", object{"id": id, "rootID": root, "k": "selfie", "beforeLen": 512})
		if n := len(got.Get("blocks").Array()); n != want {
			t.Errorf("to %s %d blocks are offered, want %d", id, n, want)
		}
	}
	for root, want := range map[string]bool{doc: true, "20990101000000-zzzzzzz": false} {
		if got := v.Ask("/api/search/searchRefBlock", object{"id": root, "rootID": root, "k": "Selfie", "beforeLen": 512}).Get("newDoc").Bool(); got != want {
			t.Errorf("from %s: a new document is offered: %t", root, got)
		}
	}
}
