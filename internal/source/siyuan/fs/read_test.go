package fs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestReadCostsFourRequests(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work 工作")
	createDocument(t, kit, nb, "/Plan/Sub", "# Title 标题\n\nThe `code` text\n\n- one\n- two\n\n```\n{: a=\"b\"}\n```")
	kit.ResetCalls()
	got := kit.Must(t, findAction(t, "read"), args("path", "/Work 工作/Plan/Sub"))
	if diff := cmp.Diff("# Title 标题\n\nThe `code` text\n\n- one\n- two\n\n```\n{: a=\"b\"}\n```", got.Get("content").String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want := []string{"/api/notebook/lsNotebooks", "/api/filetree/getIDsByHPath", "/api/block/getChildBlocks", "/api/block/getBlockKramdowns"}
	if diff := cmp.Diff(want, requestedPaths(kit)); diff != "" {
		t.Errorf("requests: -want +got:\n%s", diff)
	}
	if mode := kit.Calls()[3].Get("mode").String(); mode != "md" {
		t.Errorf("the text was asked for in mode %q, want md", mode)
	}
	if got.Get("path").String() != "/Work 工作/Plan/Sub" || got.Get("outline.0.title").String() != "Title 标题" || got.Get("outline.0.level").Int() != 1 {
		t.Errorf("got %s", got.Raw)
	}
}

func TestReadReturnsTheHashThatStateComputes(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	doc := createDocument(t, kit, nb, "/Plan", "a\n\n- b")
	long := createDocument(t, kit, nb, "/Long", strings.Repeat("word\n\n", 60))
	for path, id := range map[string]kernel.ID{"/Work/Plan": doc, "/Work/Long": long} {
		want, _, err := content.State(t.Context(), kit.Client, []kernel.ID{id})
		if err != nil {
			t.Fatal(err)
		}
		if got := kit.Must(t, findAction(t, "read"), args("path", path, "verbose", true)).Get("stateHash").String(); got != want {
			t.Errorf("%s: hash %q, State says %q", path, got, want)
		}
	}
	if got := kit.Must(t, findAction(t, "read"), args("path", "/Work/Long")); got.Get("stateHash").Exists() {
		t.Error("a window that is not the whole document has a hash, which costs a request")
	}
	before := kit.Must(t, findAction(t, "read"), args("path", "/Work/Plan")).Get("stateHash").String()
	if before == "" {
		t.Fatal("a whole document has no hash")
	}
	if err := kit.Client.SetAttrs(t.Context(), doc, map[string]string{"custom-x": "y"}); err != nil {
		t.Fatal(err)
	}
	if kit.Must(t, findAction(t, "read"), args("path", "/Work/Plan")).Get("stateHash").String() == before {
		t.Error("an attribute of the document does not change the hash")
	}
}

func TestReadWindow(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	var parts []string
	for i := range 120 {
		parts = append(parts, fmt.Sprintf("paragraph %d", i))
	}
	parts[70] = "## Deep"
	createDocument(t, kit, nb, "/Long", strings.Join(parts, "\n\n"))
	read := func(pairs ...any) (text string, next int64, size int64) {
		t.Helper()
		got := kit.Must(t, findAction(t, "read"), args(append(pairs, "path", "/Work/Long")...))
		if got.Get("truncated").Bool() != got.Get("nextWindow").Exists() || got.Get("hasNextWindow").Bool() != got.Get("truncated").Bool() {
			t.Errorf("the window contradicts itself: %s", got.Raw)
		}
		if got.Get("totalBlocks").Int() != 120 || got.Get("tokenMode").String() != "approx_context_v1" {
			t.Errorf("got %s", got.Raw)
		}
		return got.Get("content").String(), got.Get("nextWindow.blockStart").Int(), got.Get("returnedBlocks").Int()
	}
	var all []string
	for at := int64(0); ; {
		text, next, n := read("blockStart", at, "blockLimit", 37)
		if n > 37 {
			t.Fatalf("%d blocks, want 37 at most", n)
		}
		all = append(all, text)
		if next == 0 {
			break
		}
		at = next
	}
	if diff := cmp.Diff(strings.Join(parts, "\n\n"), strings.Join(all, "\n\n")); diff != "" {
		t.Errorf("windows put together: -want +got:\n%s", diff)
	}
	if _, next, n := read(); next != 50 || n != 50 {
		t.Errorf("by default %d blocks and then %d, want 50 and 50", n, next)
	}
	if text, _, n := read("tokenBudget", 1); n != 1 || text != parts[0] {
		t.Errorf("the smallest budget returns %d blocks: %q, want the first", n, text)
	}
	if text, next, n := read("blockStart", 500); n != 0 || text != "" || next != 0 {
		t.Errorf("behind the end there are %d blocks, %q, next %d", n, text, next)
	}
	got := kit.Must(t, findAction(t, "read"), args("path", "/Work/Long", "tokenBudget", 20))
	if tokens := got.Get("estimatedTokens").Int(); tokens > 20 || got.Get("budgetExceeded").Bool() || got.Get("returnedBlocks").Int() < 4 {
		t.Errorf("a budget of 20: %s", got.Raw)
	}
	if index := got.Get("outline.0.blockIndex").Int(); index != 70 {
		t.Errorf("the outline leads to block %d, want 70", index)
	}
	ids := kit.Must(t, findAction(t, "read"), args("path", "/Work/Long", "blockStart", 69, "blockLimit", 2, "includeBlockIds", true))
	if refs := ids.Get("blockRefs").Array(); len(refs) != 2 || refs[1].Get("type").String() != "h" || refs[1].Get("id").String() != ids.Get("outline.0.id").String() {
		t.Errorf("got %s", ids.Raw)
	}
	kit.ResetCalls()
	read("blockLimit", 200, "tokenBudget", 32000)
	texts := slices.DeleteFunc(requestedPaths(kit), func(p string) bool { return !strings.Contains(p, "Kramdown") })
	if diff := cmp.Diff([]string{"/api/block/getBlockKramdown"}, texts); diff != "" {
		t.Errorf("120 blocks, -want +got:\n%s", diff)
	}
	createDocument(t, kit, nb, "/Shorter", strings.Join(parts[:90], "\n\n"))
	kit.ResetCalls()
	kit.Must(t, findAction(t, "read"), args("path", "/Work/Shorter", "blockLimit", 200, "tokenBudget", 32000))
	texts = slices.DeleteFunc(requestedPaths(kit), func(p string) bool { return !strings.Contains(p, "Kramdown") })
	if diff := cmp.Diff([]string{"/api/block/getBlockKramdowns", "/api/block/getBlockKramdowns"}, texts); diff != "" {
		t.Errorf("90 blocks, one request for each 50, -want +got:\n%s", diff)
	}
}

// TestReadLongDocuments: the text of a long document, which is read with one request and split, is that
// of its blocks.
func TestReadLongDocuments(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Long", strings.Repeat("para 段\n\n## head\n\n- a\n  - b\n\n    c\n\n> q\n> > r\n\n"+
		"```\n{: id=\"20240101000000-abcdefg\"}\n\n# no\n```\n\n| a |\n|--|\n| b |\n\n---\n\n$$\nx\n$$\n\n<iframe src=\"https://example.com\"></iframe>\n\n"+
		"{{{row\nleft\n\nright\n}}}\n\n<div>\nhtml\n</div>\n\n", 12))
	blocks, err := kit.Client.ChildBlocks(t.Context(), doc)
	if err != nil || len(blocks) != 132 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	if err := kit.Client.SetAttrs(t.Context(), blocks[40].ID, map[string]string{"memo": "says \"{: id='x'}\"\nand more", "custom-a": "b"}); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(blocks); at += 44 {
		some := blocks[at : at+44]
		ids := make([]kernel.ID, len(some))
		for i, b := range some {
			ids[i] = b.ID
		}
		texts, err := kit.Client.Kramdowns(t.Context(), ids, "md")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, id := range ids {
			want = append(want, content.Visible(texts[id]))
		}
		got := kit.Must(t, findAction(t, "read"), args("path", "/Work/Long", "blockStart", at, "blockLimit", 44, "tokenBudget", 32000))
		if diff := cmp.Diff(strings.Join(want, "\n\n"), got.Get("content").String()); diff != "" {
			t.Errorf("from block %d: -want +got:\n%s", at, diff)
		}
	}
	kit.ResetCalls()
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Long", "edit", editArg("para 段", "para 改", true)))
	if n := len(slices.DeleteFunc(requestedPaths(kit), func(p string) bool { return !strings.Contains(p, "Kramdown") })); n != 2 {
		t.Errorf("an edit of 12 blocks read the document %d times, want once before and once after", n)
	}
}

func TestReadFirstBlockIsReturnedThoughTooBig(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/Big", strings.Repeat("长", 400)+"\n\nnext")
	got := kit.Must(t, findAction(t, "read"), args("path", "/Work/Big", "tokenBudget", 10))
	if !got.Get("budgetExceeded").Bool() || got.Get("returnedBlocks").Int() != 1 || got.Get("estimatedTokens").Int() != 100 || got.Get("nextWindow.blockStart").Int() != 1 {
		t.Errorf("got %s", got.Raw)
	}
}

func TestReadNamesComplexBlocks(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	doc := createDocument(t, kit, nb, "/Mixed", "text\n\n<iframe src=\"https://example.com\"></iframe>\n\nend")
	if _, err := kit.Client.Append(t.Context(), doc, "dom", `<div class="av" data-node-id="20240801120000-avblk01" data-av-id="20240801120000-avmain1" data-type="NodeAttributeView" data-av-type="table"></div>`); err != nil {
		t.Fatal(err)
	}
	got := kit.Must(t, findAction(t, "read"), args("path", "/Work/Mixed"))
	if diff := cmp.Diff([]string{"iframe", "av"}, stringsAt(got, "complexBlockTypes")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Get("attributeViews.0.blockID").String() != "20240801120000-avblk01" || got.Get("attributeViews.0.avID").String() != "20240801120000-avmain1" ||
		got.Get("warning").String() == "" || got.Get("nonFidelityWarning").String() == "" || !strings.Contains(got.Get("avToolHint").String(), "20240801120000-avmain1") {
		t.Errorf("got %s", got.Raw)
	}
}

func TestReadRefusals(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Secret")
	createDocument(t, kit, nb, "/Doc", "text")
	kit.Levels[nb] = access.None
	hidden := kit.Refused(t, findAction(t, "read"), args("path", "/Secret/Doc"), tool.NotFound)
	kit.Levels[nb] = access.Read
	missing := kit.Refused(t, findAction(t, "read"), args("path", "/Secret/Nothing"), tool.NotFound)
	if a, b := hidden.Error(), strings.ReplaceAll(missing.Error(), "/Secret/Nothing", "/Secret/Doc"); a != b {
		t.Errorf("hidden: %s\nmissing: %s", a, b)
	}
	for _, bad := range []string{"", " ", "/", "/Secret"} {
		kit.Refused(t, findAction(t, "read"), args("path", bad), kernel.InvalidPath)
	}
	kit.Must(t, findAction(t, "read"), args("path", "/Secret/Doc"))
	for _, old := range []string{"page", "pageSize"} {
		if findAction(t, "read").Param(old) != nil {
			t.Errorf("the old argument %s is accepted", old)
		}
	}
	kit.Fail("/api/block/getBlockKramdowns", 1, kerneltest.FailMessage("broken"))
	kit.Refused(t, findAction(t, "read"), args("path", "/Secret/Doc"), kernel.API)
}
