package timeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// changeLines returns the changes that a comparison shows: kind, text before and after.
func changeLines(got gjson.Result) (out []string) {
	for _, c := range got.Get("data").Array() {
		out = append(out, fmt.Sprintf("%s %q %q", c.Get("kind").Str, c.Get("before").Str, c.Get("after").Str))
	}
	return out
}

func TestCompareRecent(t *testing.T) {
	w := newWorkspace(t)
	compare := findAction(t, "compare_recent")
	got := w.Must(t, compare, args("documentId", w.doc))
	own := got.Get("checkpoints").Int() // a real kernel makes copies now and then
	if got.Get("found").Bool() || own > 1 || got.Get("data").Raw != "[]" {
		t.Errorf("without a copy: %s", got.Raw)
	}
	w.makeCopy()
	if got := w.Must(t, compare, args("documentId", w.doc)); got.Get("found").Bool() || got.Get("checkpoints").Int() != own+1 {
		t.Errorf("with an equal copy: %s", got.Raw)
	}
	w.updateBlock(w.blocks[0], "one ==changed==")
	if err := w.Client.Delete(t.Context(), w.blocks[1]); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.FlushNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.appendBlock("four & <four>")
	w.ResetCalls()
	got = w.Must(t, compare, args("id", w.doc))
	want := []string{`changed "one 一" "one changed"`, `added "" "four & <four>"`, `removed "two" ""`}
	if diff := cmp.Diff(want, changeLines(got)); diff != "" {
		t.Error(diff)
	}
	if got.Get("summary").Raw != `{"added":1,"changed":1,"moved":0,"removed":1}` || !got.Get("found").Bool() || got.Get("created").Str == "" ||
		!strings.HasSuffix(got.Get("historyPath").Str, string(w.doc)+".sy") || got.Get("data.0.id").Str != string(w.blocks[0]) {
		t.Errorf("%s", got.Raw)
	}
	if len(w.Writes()) != 0 {
		t.Errorf("a comparison writes: %v", w.Writes())
	}
	// The newest copy equals the document, so the one before it is compared.
	w.makeCopy()
	if got := w.Must(t, compare, args("documentId", w.doc)); got.Get("checkpoints").Int() != 2 || got.Get("total").Int() != 3 {
		t.Errorf("%s", got.Raw)
	}
	second := w.Must(t, compare, args("documentId", w.doc, "page", 2, "pageSize", 2))
	if second.Get("data.#").Int() != 1 || second.Get("total").Int() != 3 || second.Get("hasNextPage").Bool() {
		t.Errorf("%s", second.Raw)
	}
	for range 5 {
		w.makeCopy()
	}
	if got := w.Must(t, compare, args("documentId", w.doc)); got.Get("found").Bool() || got.Get("checkpoints").Int() != 5 {
		t.Errorf("more than five copies: %s", got.Raw)
	}
}

func TestCompareRecentShowsMovesAndFormats(t *testing.T) {
	w := newWorkspace(t)
	w.updateBlock(w.blocks[0], "see [page](https://a.example)")
	w.appendBlock("four")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "see [page](https://b.example)")
	if err := w.Client.Move(t.Context(), w.blocks[1], w.Children(w.t, w.doc)[3], ""); err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "compare_recent"), args("documentId", w.doc))
	if diff := cmp.Diff([]string{`changed "see page" "see page"`, `moved "" "two"`}, changeLines(got)); diff != "" {
		t.Error(diff)
	}
	if !got.Get("data.0.formatOnly").Bool() {
		t.Errorf("%s", got.Raw)
	}
}

func TestCompareRecentCutsTexts(t *testing.T) {
	w := newWorkspace(t)
	w.updateBlock(w.blocks[0], strings.Repeat("长", 500))
	w.makeCopy()
	w.updateBlock(w.blocks[0], strings.Repeat("短", 400))
	c := w.Must(t, findAction(t, "compare_recent"), args("documentId", w.doc)).Get("data.0")
	if before := []rune(c.Get("before").Str); len(before) != 401 || before[400] != '…' {
		t.Errorf("%d characters", len(before))
	}
	if n := len([]rune(c.Get("after").Str)); n != 400 {
		t.Errorf("%d characters", n)
	}
}

func TestCompareRecentNeedsRead(t *testing.T) {
	w := newWorkspace(t)
	compare := findAction(t, "compare_recent")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "changed")
	w.Levels[w.notebook] = access.Read
	w.Must(t, compare, args("documentId", w.doc))
	w.Levels[w.notebook] = access.None
	hidden := w.Refused(w.t, compare, args("documentId", w.doc), tool.NotFound)
	actiontest.SameRefusal(w.t, hidden, w.Refused(w.t, compare, args("documentId", actiontest.Nowhere), tool.NotFound), string(w.doc), actiontest.Nowhere)
	w.Refused(w.t, compare, args(), tool.Invalid)
}

// TestCompareRecentIgnoresOtherNotebooks: a copy made in the notebook where the document was before may be hidden.
func TestCompareRecentIgnoresOtherNotebooks(t *testing.T) {
	w := newWorkspace(t)
	w.makeCopy()
	other := kernel.ID(w.Notebook("Other"))
	if err := w.Client.MoveDocuments(t.Context(), []kernel.ID{w.doc}, other); err != nil {
		t.Fatal(err)
	}
	w.updateBlock(w.blocks[0], "changed")
	w.Levels[w.notebook] = access.None
	if got := w.Must(t, findAction(t, "compare_recent"), args("documentId", w.doc)); got.Get("found").Bool() || strings.Contains(got.Raw, string(w.notebook)) {
		t.Errorf("%s", got.Raw)
	}
}
