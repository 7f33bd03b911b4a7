package block_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// backlinkCounts returns the documents in a list of backlinks, each with its count.
func backlinkCounts(list gjson.Result) (found []string) {
	for _, d := range list.Array() {
		found = append(found, d.Get("name").String()+" "+d.Get("count").String())
	}
	return found
}

func TestBacklinks(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	def, blocks := v.createDocument("Target", "first\n\n## Part\n\nsecond")
	a, _ := v.createDocument("A", "to (("+blocks[0]+` "one")) twice ((`+blocks[0]+" 'first'))\n\n- item to (("+blocks[2]+" 'second'))")
	v.createDocument("B", "whole (("+def+" 'Target')) apple")
	v.createDocument("C", "nothing here")

	links := v.Ask("/api/ref/getBacklink2", object{"id": def, "k": "", "mk": ""})
	if got, want := backlinkCounts(links.Get("backlinks")), []string{"A 2", "B 1"}; !slices.Equal(got, want) {
		t.Errorf("backlinks of the document are %v, want %v", got, want)
	}
	if got := links.Get("backlinks.0.hPath").String(); got != "Notes 笔记/A" {
		t.Errorf("hPath = %q", got)
	}
	links = v.Ask("/api/ref/getBacklink2", object{"id": def, "k": "APPLE", "mk": ""})
	if got, want := backlinkCounts(links.Get("backlinks")), []string{"B 1"}; !slices.Equal(got, want) {
		t.Errorf("backlinks with the keyword are %v, want %v", got, want)
	}
	links = v.Ask("/api/ref/getBacklink2", object{"id": blocks[1]})
	if got := links.Get("backlinks").Raw; got != "[]" {
		t.Errorf("backlinks of the heading alone are %s", got)
	}
	links = v.Ask("/api/ref/getBacklink2", object{"id": blocks[1], "containChildren": true})
	if got, want := backlinkCounts(links.Get("backlinks")), []string{"A 1"}; !slices.Equal(got, want) {
		t.Errorf("backlinks of what lies under the heading are %v, want %v", got, want)
	}
	shown := v.Ask("/api/ref/getBacklinkDoc", object{"defID": def, "refTreeID": a, "keyword": ""}).Get("backlinks").Array()
	if len(shown) != 2 || !strings.Contains(shown[1].Get("dom").String(), "NodeListItem") {
		t.Errorf("the document shows %v, want a paragraph and a list item", shown)
	}
	info := v.Ask("/api/block/getDocInfo", object{"id": blocks[1]})
	if info.Get("refCount").Int() != 3 || info.Get("rootID").String() != def || info.Get("name").String() != "Target" {
		t.Errorf("the document is described as %s", info.Raw)
	}
}

// TestMentions searches for titles that are short, long, in several scripts, and full of characters that are special in SQL.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, title := range []string{
		"X", "王", "王五", "Go 语言", "Project \"Q\"", "100%", "a_b", "it's", "NOT a AND b", "a*b", "-x:y", "a < b & c", "p", "div", "🐕", "é",
	} {
		v := newVault(t)
		def, _ := v.createDocument(title, "the definition names "+title+" itself")
		at, blocks := v.createDocument("Elsewhere", "before "+title+" after\n\nno name\n\n`"+title+"` only as code\n\n- in an item "+title)
		v.createDocument("Other", "not here")
		mentions := v.Ask("/api/ref/getBacklink2", object{"id": def, "k": "", "mk": ""}).Get("backmentions")
		shown := v.Ask("/api/ref/getBackmentionDoc", object{"defID": def, "refTreeID": at, "keyword": ""})
		if got, want := backlinkCounts(mentions), []string{"Elsewhere 2"}; !slices.Equal(got, want) {
			t.Errorf("%q is mentioned in %v, want %v", title, got, want)
		}
		list := shown.Get("backmentions").Array()
		if len(list) != 2 || !strings.Contains(list[0].Get("dom").String(), `data-node-id="`+blocks[0]+`"`) {
			t.Errorf("%q: the document shows %s", title, shown.Raw)
			continue
		}
		dom := list[0].Get("dom").String()
		if strings.Count(dom, `<span data-type="search-mark">`) != 1 || !strings.HasPrefix(dom, `<div data-node-id="`) {
			t.Errorf("%q is marked as %s", title, dom)
		}
	}
}

func TestClosedNotebookHasNoLinks(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	def, _ := v.createDocument("Target", "text")
	v.createDocument("Ref", "(("+def+" 'Target')) and Target in words")
	var other string
	v.Update(func(tx *workspace.Tx) { other = tx.CreateNotebook("Other").ID })
	v.Update(func(tx *workspace.Tx) {
		d := tx.Document(def)
		tx.MoveDocument(d, tx.Notebook(other), nil)
	})
	v.Update(func(tx *workspace.Tx) { tx.Notebook(v.box).Conf.Closed = true })
	links := v.Ask("/api/ref/getBacklink2", object{"id": def, "k": "", "mk": ""})
	if links.Get("backlinks").Raw != "[]" || links.Get("backmentions").Raw != "[]" {
		t.Errorf("a closed notebook shows in %s", links.Raw)
	}
	if got := v.Ask("/api/block/getDocInfo", object{"id": def}).Get("refCount").Int(); got != 0 {
		t.Errorf("refCount = %d", got)
	}
	for _, b := range v.Ask("/api/block/getRecentUpdatedBlocks", object{}).Array() {
		if b.Get("box").String() != other {
			t.Errorf("the recent list shows %s of a closed notebook", b.Get("id"))
		}
	}
}

// TestTransferShowsTheOtherBlock checks that a dynamic anchor shows the text of its new target after a transfer.
func TestTransferShowsTheOtherBlock(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, defs := v.createDocument("Defs", "old text\n\nnew text")
	id, _ := v.createDocument("Ref", "a (("+defs[0]+" 'old text')) b (("+defs[0]+` "fix"))`)
	v.Ask("/api/block/transferBlockRef", object{"fromID": defs[0], "toID": defs[1]})
	if got, want := v.Text(id), "a (("+defs[1]+" 'new text')) b (("+defs[1]+` "fix"))`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, defs := v.createDocument("Defs", "old\n\nnew")
	ref := "((" + defs[0] + ` "anchor"))`
	id, blocks := v.createDocument("Ref", "a "+ref+" b "+ref+"\n\nsecond "+ref)
	v.Ask("/api/block/transferBlockRef", object{"fromID": defs[0], "toID": unknown})
	v.Ask("/api/block/transferBlockRef", object{"fromID": defs[0], "toID": defs[1], "refIDs": []string{blocks[1]}})
	if got := v.Text(id); strings.Count(got, defs[0]) != 2 || strings.Count(got, defs[1]) != 1 {
		t.Errorf("after a transfer of the second block: %q", got)
	}
	v.Ask("/api/block/deleteBlock", object{"id": defs[0]})
	v.Ask("/api/block/transferBlockRef", object{"fromID": defs[0], "toID": defs[1]})
	want := strings.ReplaceAll("a "+ref+" b "+ref+"\n\nsecond "+ref, defs[0], defs[1])
	if got := v.Text(id); got != want {
		t.Errorf("after a transfer of all: %q, want %q", got, want)
	}
	if got := backlinkCounts(v.Ask("/api/ref/getBacklink2", object{"id": defs[1]}).Get("backlinks")); !slices.Equal(got, []string{"Ref 2"}) {
		t.Errorf("the new definition is referred to by %v", got)
	}
}

// TestTransferOfItems names blocks as getDocInfo lists them: by their list items.
func TestTransferOfItems(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	doc, defs := v.createDocument("Defs", "old\n\nnew")
	id, _ := v.createDocument("Ref", "- item (("+defs[0]+" 'old'))\n- other (("+defs[0]+" 'old'))")
	refs := v.Ask("/api/block/getDocInfo", object{"id": doc}).Get("refIDs").Array()
	if len(refs) != 2 {
		t.Fatalf("refIDs are %v", refs)
	}
	v.Ask("/api/block/transferBlockRef", object{"fromID": defs[0], "toID": defs[1], "refIDs": []string{refs[0].String()}})
	if got := v.Text(id); strings.Count(got, defs[0]) != 1 || strings.Count(got, defs[1]) != 1 {
		t.Errorf("after the transfer of one item: %q", got)
	}
}

// TestAnchorsFollow changes a definition and a title: dynamic anchors follow, static ones stay.
func TestAnchorsFollow(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	def, blocks := v.createDocument("Title", "text")
	id, _ := v.createDocument("Ref", "(("+blocks[0]+" 'text')) (("+blocks[0]+` "stays")) ((`+def+" 'Title'))")
	v.Ask("/api/block/updateBlock", object{"id": blocks[0], "dataType": "markdown", "data": "it's 新"})
	v.Ask("/api/attr/setBlockAttrs", object{"id": def, "attrs": object{"title": "New/title"}})
	want := "((" + blocks[0] + " 'it’s 新')) ((" + blocks[0] + ` "stays")) ((` + def + " 'Newtitle'))"
	if got := v.Text(id); got != want {
		t.Errorf("anchors are\n%s, want\n%s", got, want)
	}
}
