package search_test

import (
	"slices"
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func idOf(s string) kernel.ID { return kernel.ID(s) }

// addLinks adds two documents that refer to a block of the workspace's document, one of them in the secret notebook. The first
// also mentions the document by its title.
func addLinks(w *workspace) (ref, secretRef string) {
	w.t.Helper()
	target := w.children(w.doc)[1]
	ref = w.Doc(w.fruit, "/Links", "see (("+target+" 'pie')) here\n\n- item with (("+w.doc+" 'Apple 苹果')) (("+actiontest.Nowhere+" 'gone'))\n\nthis names Apple 苹果 in passing")
	secretRef = w.Doc(w.secret, "/CANARY refs", "CANARY refers to (("+target+" 'pie'))")
	return ref, secretRef
}

func TestGetBacklinks(t *testing.T) {
	w := newWorkspace(t)
	ref, _ := addLinks(w)
	target := w.children(w.doc)[1]
	got := w.runAction("get_backlinks", "id", target, "mode", "links")
	if n := len(got.Get("backlinks").Array()); n != 2 {
		t.Fatalf("%d backlinks: %s", n, got.Raw)
	}
	w.hideSecret()
	got = w.runAction("get_backlinks", "id", w.doc)
	w.checkTellsNothing(got)
	if !slices.Contains(actiontest.Members(got.Get("backlinks"), "content"), "see pie here") || len(got.Get("backlinks").Array()) != 2 {
		t.Errorf("backlinks of the document: %s", got.Raw)
	}
	if mentions := actiontest.Members(got.Get("backmentions"), "content"); !slices.Equal(mentions, []string{"this names Apple 苹果 in passing"}) {
		t.Errorf("mentions: %v", mentions)
	}
	if root := got.Get("backmentions.0.rootID").Str; root != ref || got.Get("backmentions.0.hPath").Str != "/Links" {
		t.Errorf("where: %s", got.Raw)
	}
	if got.Get("filteredOutCount").Exists() {
		t.Errorf("what was left out is counted: %s", got.Raw)
	}
}

func TestGetBacklinksInOneDocument(t *testing.T) {
	w := newWorkspace(t)
	ref, secretRef := addLinks(w)
	got := w.runAction("get_backlinks", "id", w.doc, "refTreeID", actiontest.Nowhere, "scopeRootId", ref, "keyword", "ITEM")
	if links := actiontest.Members(got.Get("backlinks"), "content"); !slices.Equal(links, []string{"item with Apple 苹果 gone"}) {
		t.Errorf("links: %s", got.Raw)
	}
	if path := got.Get("backlinks.0.hPath").Str; path != "/Links" {
		t.Errorf("where: %s", path)
	}
	if other := w.runAction("get_backlinks", "id", w.doc, "refTreeID", ref, "keyword", "苹果 nobody"); len(other.Get("backlinks").Array()) > 0 {
		t.Errorf("without the keyword: %s", other.Raw)
	}
	if passing := w.runAction("get_backlinks", "id", w.doc, "mode", "mentions", "keyword", "PASSING"); len(passing.Get("backmentions").Array()) != 2 {
		t.Errorf("mentions with the keyword: %s", passing.Raw)
	}
	if sent := w.Asked("/api/ref/getBacklinkDoc"); len(sent) != 2 || sent[0].Get("refTreeID").Str != ref {
		t.Errorf("sent %v", sent)
	}
	w.checkHiddenLikeMissing("get_backlinks", secretRef, "id", w.doc, "refTreeID", secretRef)
	w.checkHiddenLikeMissing("get_backlinks", w.secretDoc, "id", w.secretDoc)
}

func TestGetBacklinksFallsBackToTheIndex(t *testing.T) {
	w := newWorkspace(t)
	ref, _ := addLinks(w)
	w.Lenient()
	w.changeRequests(func(endpoint, body string) string {
		if endpoint == "/api/ref/getBacklinkDoc" {
			return "{}" // an older kernel answers this with code 0 and data null
		}
		return body
	})
	got := w.runAction("get_backlinks", "id", w.doc, "mode", "links", "refTreeID", ref)
	if len(got.Get("backlinks").Array()) != 2 || !got.Get("fallbackUsed").Bool() || !got.Get("sourcePayloadMissing").Bool() {
		t.Errorf("got %s", got.Raw)
	}
}

func TestSearchRefs(t *testing.T) {
	w := newWorkspace(t)
	block := w.children(w.doc)[1]
	w.runAction("search_refs", "id", block, "keyword", "apple")
	w.hideSecret()
	got := w.runAction("search_refs", "id", block, "keyword", "apple")
	w.checkTellsNothing(got)
	if got.Get("total").Int() == 0 || got.Get("data.#").Int() != got.Get("total").Int() || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s", got.Raw)
	}
	sent := w.Asked("/api/search/searchRefBlock")[0]
	if sent.Get("rootID").Str != w.doc || sent.Get("beforeLen").Int() != 512 || !sent.Get("isDatabase").Exists() || !sent.Get("reqId").Exists() {
		t.Errorf("sent %s", sent.Raw)
	}
	if none := w.runAction("search_refs", "id", block); none.Get("data").Raw != "[]" {
		t.Errorf("without k: %s", none.Raw)
	}
	w.checkRefused(tool.Invalid, "search_refs", "k", "apple")
	w.checkHiddenLikeMissing("search_refs", w.secretDoc, "id", w.secretDoc, "k", "x")
	w.checkHiddenLikeMissing("search_refs", w.secretDoc, "id", block, "rootID", w.secretDoc, "k", "x")
}

func TestListInvalidRefs(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(w.fruit, "/Broken", "one (("+actiontest.Nowhere+" 'gone')) here\n\ntwo (("+actiontest.Nowhere+" 'gone too'))")
	w.Doc(w.secret, "/CANARY broken", "CANARY (("+actiontest.Nowhere+" 'gone'))")
	all := w.runAction("list_invalid_refs", "pageSize", 2)
	if all.Get("total").Int() != 3 || all.Get("pageCount").Int() != 2 || all.Get("data.#").Int() != 2 {
		t.Errorf("got %s", all.Raw)
	}
	w.hideSecret()
	got := w.runAction("list_invalid_refs", "page", 9)
	w.checkTellsNothing(got)
	if got.Get("total").Int() != 2 || got.Get("page").Int() != 1 || got.Get("filteredOutCount").Exists() || got.Get("blocks.#").Int() != 2 {
		t.Errorf("got %s", got.Raw)
	}
}
