package block_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestReadersNeedReadAndKeepHiddenBlocksHidden(t *testing.T) {
	w := newWorkspace(t, "one")
	id := w.blocks[0]
	for _, name := range []string{"get_kramdown", "get_children", "get_attrs", "info", "breadcrumb", "dom"} {
		w.Must(t, findAction(t, name), args("id", id))
		w.checkGuarded(findAction(t, name), access.Read, id, args("id", id))
		w.Refused(w.t, findAction(t, name), args("id", "x' OR 1=1"), tool.NotFound)
		w.Refused(w.t, findAction(t, name), args(), tool.Invalid)
	}
	for _, name := range []string{"word_count", "docs_info"} {
		w.checkGuarded(findAction(t, name), access.Read, id, args("ids", []kernel.ID{w.blocks[0]}))
	}
}

func TestGetKramdown(t *testing.T) {
	w := newWorkspace(t, "文\u200b字")
	got := w.Must(t, findAction(t, "get_kramdown"), args("id", w.blocks[0]))
	text := got.Get("kramdown").Str
	if !strings.HasPrefix(text, "文字\n{:") || !strings.Contains(text, string(w.blocks[0])) {
		t.Errorf("kramdown %q", text)
	}
	hash, _, err := content.State(t.Context(), w.Client, []kernel.ID{w.blocks[0]})
	if err != nil || got.Get("stateHash").Str != hash {
		t.Errorf("stateHash %s, that of the state is %s (%v)", got.Get("stateHash").Str, hash, err)
	}
	w.Must(t, findAction(t, "update"), args("id", w.blocks[0], "dataType", "markdown", "data", "other"))
	if again := w.Must(t, findAction(t, "get_kramdown"), args("id", w.blocks[0])); again.Get("stateHash").Str == hash {
		t.Error("the block changed and its hash did not")
	}
}

func TestBatchKramdownFailsEachAlone(t *testing.T) {
	w := newWorkspace(t, "one")
	other := kernel.ID(w.Notebook("Other"))
	hidden := w.Children(w.t, w.addDocument(other, "/O", "secret"))[0]
	w.Levels[other] = access.None
	a := findAction(t, "batch_kramdown")
	got := w.Must(t, a, args("ids", []kernel.ID{w.blocks[0], hidden, actiontest.Nowhere, "bad", w.blocks[0]}))
	var ok []bool
	for _, item := range got.Get("items").Array() {
		ok = append(ok, item.Get("ok").Bool())
	}
	if diff := cmp.Diff([]bool{true, false, false, false, true}, ok); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", got.Raw, diff)
	}
	if strings.Contains(got.Raw, "secret") {
		t.Errorf("the text of a hidden block: %s", got.Raw)
	}
	h, m := got.Get("items.1.error").Raw, got.Get("items.2.error").Raw
	if strings.ReplaceAll(h, string(hidden), actiontest.Nowhere) != m || got.Get("items.1.error.type").Str != string(tool.NotFound) {
		t.Errorf("hidden %s\nmissing %s", h, m)
	}
	if got.Get("requested").Int() != 5 || got.Get("succeeded").Int() != 2 || got.Get("failed").Int() != 3 || !got.Get("partial").Bool() {
		t.Errorf("counts: %s", got.Raw)
	}
	single := w.Must(t, findAction(t, "get_kramdown"), args("id", w.blocks[0]))
	if got.Get("items.0.stateHash").Str != single.Get("stateHash").Str {
		t.Error("the hash is another than that of get_kramdown")
	}
}

func TestGetChildrenPages(t *testing.T) {
	w := newWorkspace(t, "a\n\nb\n\nc")
	a := findAction(t, "get_children")
	got := w.Must(t, a, args("id", w.doc, "pageSize", 2))
	if diff := cmp.Diff(w.blocks[:2], idsIn(got.Get("data.#.id"))); diff != "" || !got.Get("hasNextPage").Bool() || got.Get("hint").Str == "" {
		t.Errorf("first page %s (-want +got):\n%s", got.Raw, diff)
	}
	got = w.Must(t, a, args("id", w.doc, "page", 9, "pageSize", "2"))
	if diff := cmp.Diff(w.blocks[2:], idsIn(got.Get("data.#.id"))); diff != "" || got.Get("page").Int() != 2 || got.Get("hint").Exists() {
		t.Errorf("last page %s (-want +got):\n%s", got.Raw, diff)
	}
	if got := w.Must(t, a, args("id", w.blocks[0])); got.Get("data").Raw != "[]" {
		t.Errorf("a leaf has no children: %s", got.Raw)
	}
}

func TestGetAttrsInfoAndBreadcrumb(t *testing.T) {
	w := newWorkspace(t, "# 标题\n\npara")
	w.setAttrs(w.blocks[1], map[string]string{"memo": "备注"})
	if got := w.Must(t, findAction(t, "get_attrs"), args("id", w.blocks[1])); got.Get("memo").Str != "备注" || got.Get("id").Str != string(w.blocks[1]) {
		t.Errorf("attributes: %s", got.Raw)
	}
	if got := w.Must(t, findAction(t, "info"), args("id", w.blocks[1])); got.Get("box").Str != string(w.nb) || got.Get("rootID").Str != string(w.doc) {
		t.Errorf("info: %s", got.Raw)
	}
	got := w.Must(t, findAction(t, "breadcrumb"), args("id", w.blocks[1]))
	if diff := cmp.Diff([]kernel.ID{w.doc, w.blocks[0], w.blocks[1]}, idsIn(got.Get("#.id"))); diff != "" || got.Get("1.name").Str != "标题" {
		t.Errorf("breadcrumb %s (-want +got):\n%s", got.Raw, diff)
	}
}

func TestDOMIsCutAtABlock(t *testing.T) {
	w := newWorkspace(t, "- "+strings.Repeat(strings.Repeat("长", 500)+"\n- ", 60)+"end")
	got := w.Must(t, findAction(t, "dom"), args("id", w.blocks[0]))
	dom := got.Get("dom").Str
	if !got.Get("truncated").Bool() || len(dom) > 64<<10 || int(got.Get("totalBytes").Int()) <= len(dom) {
		t.Fatalf("%d bytes, truncated %s, total %s", len(dom), got.Get("truncated"), got.Get("totalBytes"))
	}
	if open, closed := strings.Count(dom, "<div"), strings.Count(dom, "</div>"); open != closed {
		t.Errorf("%d div open, %d closed", open, closed)
	}
	if blocks := kernel.ParseDOM(dom); len(blocks) != 1 || len(blocks[0].Blocks) < 10 {
		t.Errorf("the cut left %d blocks", len(blocks))
	}
	if got := w.Must(t, findAction(t, "dom"), args("id", w.Children(w.t, w.blocks[0])[0])); got.Get("truncated").Bool() || got.Get("totalBytes").Exists() {
		t.Errorf("a short DOM was cut: %s", got.Raw)
	}
}

func TestRecentUpdatedGroupsAndFilters(t *testing.T) {
	w := newWorkspace(t, "aa\n\nbb\n\ncc\n\ndd")
	other := kernel.ID(w.Notebook("Other"))
	w.addDocument(other, "/Secret", "secret text")
	w.Levels[other] = access.None
	got := w.Must(t, findAction(t, "recent_updated"), args())
	if strings.Contains(got.Raw, "ecret") || strings.Contains(got.Raw, string(other)) {
		t.Errorf("a hidden notebook shows: %s", got.Raw)
	}
	if got.Get("filteredOutCount").Int() == 0 || !got.Get("partial").Bool() {
		t.Errorf("nothing says that something was left out: %s", got.Raw)
	}
	doc := got.Get(`documents.#(documentId=="` + string(w.doc) + `")`)
	if doc.Get("name").Str != "Doc 文档" || doc.Get("notebook").Str != string(w.nb) || doc.Get("sampleBlocks.#").Int() != 3 ||
		doc.Get("updatedBlockCount").Int() < 4 {
		t.Errorf("document: %s", doc.Raw)
	}
	if got.Get("count").Int() != got.Get("items.#").Int() || got.Get("documentCount").Int() != got.Get("documents.#").Int() {
		t.Errorf("counts: %s", got.Raw)
	}
	if got := w.Must(t, findAction(t, "recent_updated"), args("count", 1)); got.Get("count").Int() != 1 {
		t.Errorf("count=1: %s", got.Raw)
	}
	w.Levels[w.nb] = access.None
	w.Default = access.None
	if got := w.Must(t, findAction(t, "recent_updated"), args()); got.Get("documents").Raw != "[]" || got.Get("items").Raw != "[]" {
		t.Errorf("nothing may be read: %s", got.Raw)
	}
}

// The kernel escapes names and texts as HTML in a breadcrumb and in the list of recent blocks. The actions return them
// as plain text.
func TestNamesAreText(t *testing.T) {
	w := newWorkspace(t, "x")
	doc := w.addDocument(w.nb, `/R&D "q" 'a' <b> 😀`, "# P & <Q>\n\nit's \"so\" & 1 < 2")
	got := w.Must(t, findAction(t, "breadcrumb"), args("id", w.Children(w.t, doc)[1]))
	if got.Get("0.name").Str != `Notes 笔记/R&D "q" 'a' <b> 😀` || got.Get("1.name").Str != "P & <Q>" {
		t.Errorf("breadcrumb: %s", got.Raw)
	}
	recent := w.Must(t, findAction(t, "recent_updated"), args()).Get(`documents.#(documentId=="` + string(doc) + `")`)
	if recent.Get("name").Str != `R&D "q" 'a' <b> 😀` || recent.Get("hPath").Str != `/R&D "q" 'a' <b> 😀` ||
		recent.Get("sampleBlocks.0.excerpt").Str != `it's "so" & 1 < 2` || recent.Get("updatedBlockCount").Int() != 1 {
		t.Errorf("recent: %s", recent.Raw)
	}
}

func TestWordCount(t *testing.T) {
	w := newWorkspace(t, "two words\n\n三个字")
	got := w.Must(t, findAction(t, "word_count"), args("ids", w.blocks))
	if got.Get("blockCount").Int() != 2 || got.Get("wordCount").Int() != 5 {
		t.Errorf("result: %s", got.Raw)
	}
	if got := w.Must(t, findAction(t, "word_count"), args("id", w.blocks[0])); got.Get("blockCount").Int() != 1 {
		t.Errorf("alias id: %s", got.Raw)
	}
	other := kernel.ID(w.Notebook("Other"))
	hidden := w.Children(w.t, w.addDocument(other, "/O", "x"))[0]
	w.checkGuarded(findAction(t, "word_count"), access.Read, hidden, args("ids", []kernel.ID{w.blocks[0], hidden}))
	refs := w.addDocument(w.nb, "/Refs", fmt.Sprintf("see ((%s 'what it says'))", hidden))
	if got := w.Must(t, findAction(t, "word_count"), args("id", refs)); got.Get("wordCount").Int() != 4 {
		t.Errorf("readable: %s", got.Raw)
	}
	w.Levels[other] = access.None
	for _, id := range append(w.Children(w.t, refs), refs) { // even the length would tell something of the hidden text
		got := w.Must(t, findAction(t, "word_count"), args("id", id))
		if got.Get("wordCount").Exists() || got.Get("runeCount").Exists() || got.Get("refCount").Int() != 1 || got.Get("hint").Str == "" {
			t.Errorf("of a reference to what is hidden: %s", got.Raw)
		}
	}
	if got := w.Must(t, findAction(t, "word_count"), args("ids", w.blocks)); got.Get("wordCount").Int() != 5 || got.Get("hint").Exists() {
		t.Errorf("of what is readable: %s", got.Raw)
	}
}

func TestDocsInfoCountsOnlyReadableReferences(t *testing.T) {
	w := newWorkspace(t, "one")
	ref := "see ((" + string(w.doc) + " \"x\"))"
	seen := w.Children(w.t, w.addDocument(w.nb, "/Seen", ref))[0]
	other := kernel.ID(w.Notebook("Other"))
	hidden := w.Children(w.t, w.addDocument(other, "/Hidden", ref))[0]
	a := findAction(t, "docs_info")
	call := args("id", w.blocks[0], "refCount", true)
	if got := w.Must(t, a, call); got.Get("0.refCount").Int() != 2 || got.Get("0.id").Str != string(w.doc) {
		t.Errorf("all readable: %s", got.Raw)
	}
	w.Levels[other] = access.None
	got := w.Must(t, a, call)
	if diff := cmp.Diff([]kernel.ID{seen}, idsIn(got.Get("0.refIDs"))); diff != "" || got.Get("0.refCount").Int() != 1 || strings.Contains(got.Raw, string(hidden)) {
		t.Errorf("one hidden: %s (-want +got):\n%s", got.Raw, diff)
	}
	w.Refused(w.t, a, args(), tool.Conflicting)
	w.Refused(w.t, a, args("id", w.doc, "ids", []kernel.ID{w.doc}), tool.Conflicting)
}

func TestSetFoldState(t *testing.T) {
	w := newWorkspace(t, "# h\n\npara")
	a := findAction(t, "set_fold_state")
	w.Must(t, a, args("id", w.blocks[0], "folded", true))
	if w.attrs(w.blocks[0])["fold"] != "1" {
		t.Error("not folded")
	}
	if got := w.Must(t, a, args("id", w.blocks[0], "folded", "false")); got.Get("folded").Bool() || w.attrs(w.blocks[0])["fold"] == "1" {
		t.Error("not unfolded")
	}
	w.Refused(w.t, a, args("id", w.blocks[0]), tool.Invalid)
	w.Refused(w.t, a, args("id", w.doc, "folded", true), tool.Invalid)
	w.checkGuarded(a, access.Write, w.blocks[0], args("id", w.blocks[0], "folded", true))
}

// The attribute custom-avs of a block names the databases in which the block is a row. One of them may be in a hidden
// notebook. So no action shows the attribute while any notebook is hidden.
func TestReadsHideDatabaseIDs(t *testing.T) {
	w := newWorkspace(t, "a row")
	const db = "20240801120000-avsecre"
	for _, id := range []kernel.ID{w.blocks[0], w.doc} {
		if err := w.Client.SetAttrs(t.Context(), id, map[string]string{"custom-avs": db, "memo": "mine"}); err != nil {
			t.Fatal(err)
		}
	}
	reads := map[string]string{
		"get_attrs": args("id", w.blocks[0]), "get_kramdown": args("id", w.blocks[0]), "dom": args("id", w.blocks[0]),
		"batch_kramdown": args("ids", w.blocks), "docs_info": args("id", w.doc),
	}
	for name, call := range reads {
		if got := w.Must(t, findAction(t, name), call); !strings.Contains(got.Raw, db) {
			t.Errorf("%s shows no database where everything may be read: %s", name, got.Raw)
		}
	}
	w.Levels[kernel.ID(w.Notebook("Secret"))] = access.None
	for name, call := range reads {
		if got := w.Must(t, findAction(t, name), call); strings.Contains(got.Raw, db) || !strings.Contains(got.Raw, "mine") {
			t.Errorf("%s with a hidden notebook: %s", name, got.Raw)
		}
	}
}
