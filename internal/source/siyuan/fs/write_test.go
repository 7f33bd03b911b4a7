package fs_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// mustBeToolError returns err as an error of package tool.
func mustBeToolError(t testing.TB, err error) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("%v is not an error of ours", err)
	}
	return e
}

// readText returns the text that read shows for a path.
func readText(t testing.TB, kit *actiontest.Kit, path string) string {
	t.Helper()
	return kit.Must(t, findAction(t, "read"), args("path", path)).Get("content").String()
}

func TestWriteCreates(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := createNotebook(t, kit, "Work")
	plan := createDocument(t, kit, work, "/Plan", "x")
	got := kit.Must(t, findAction(t, "write"), args("path", "/Work/Plan/New 新", "markdown", "# New 新\n\nbody 正文"))
	if !got.Get("success").Bool() || !got.Get("created").Bool() || got.Get("path").String() != "/Work/Plan/New 新" {
		t.Errorf("got %s", got.Raw)
	}
	if text := readText(t, kit, "/Work/Plan/New 新"); text != "body 正文" {
		t.Errorf("the document holds %q, want the body without its title", text)
	}
	sent := kit.Writes()[2].Get("id").String()
	if sent != got.Get("id").String() || !kernel.ID(sent).Valid() {
		t.Errorf("the id %q was sent and %s returned", sent, got.Get("id"))
	}
	if _, path, err := kit.Client.PathByID(t.Context(), kernel.ID(sent)); err != nil || !strings.HasPrefix(path, "/"+string(plan)+"/") {
		t.Errorf("it is at %s, %v", path, err)
	}
}

// The path in the result is one that leads to the document, whatever the kernel makes of a title.
func TestWriteSaysWhereTheDocumentIs(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createNotebook(t, kit, "Work")
	for path, want := range map[string]string{
		"/Work/  spaced": "/Work/spaced", "/Work/100%252F": "/Work/100%252F", "/Work/note.sy": "/Work/note.sy",
		"/Work/50% of": "/Work/50% of", "/Work/计划 📅 #1": "/Work/计划 📅 #1",
	} {
		got := kit.Must(t, findAction(t, "write"), args("path", path, "markdown", "of "+path))
		at := got.Get("path").String()
		if text := readText(t, kit, at); at != want || text != "of "+path {
			t.Errorf("%s: said to be at %s, want %s; that holds %q", path, at, want, text)
		}
	}
	kit.Refused(t, findAction(t, "write"), args("path", "/Work/ spaced", "markdown", "x"), tool.Exists)
	for _, bad := range []string{"/Work/..", "/Work/.", "/Work/ . ", "/Work/  /", "/Work/%2F"} {
		kit.Refused(t, findAction(t, "write"), args("path", bad, "markdown", "x"), kernel.InvalidPath)
	}
}

func TestWriteRefusesWhatExists(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Plan", "old")
	kit.ResetCalls()
	e := mustBeToolError(t, kit.Refused(t, findAction(t, "write"), args("path", "/Work/Plan", "markdown", "new"), tool.Exists))
	if !strings.Contains(e.Hint, "overwrite=true") || len(kit.Writes()) > 0 {
		t.Errorf("hint %q, writes %v", e.Hint, kit.Writes())
	}
	got := kit.Must(t, findAction(t, "write"), args("path", "/Work/Plan", "markdown", "new 新\n\n- a", "overwrite", true))
	if !got.Get("overwritten").Bool() || got.Get("id").String() != string(doc) || readText(t, kit, "/Work/Plan") != "new 新\n\n- a" {
		t.Errorf("got %s, text %q", got.Raw, readText(t, kit, "/Work/Plan"))
	}
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Plan", "markdown", "", "overwrite", true))
	if text := readText(t, kit, "/Work/Plan"); text != "" {
		t.Errorf("an empty text leaves %q", text)
	}
}

func TestWriteNeedsTheParentAndTheLevel(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, hidden := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Hidden")
	createDocument(t, kit, hidden, "/Doc", "x")
	kit.Levels[hidden] = access.None
	kit.ResetCalls()
	for path, kind := range map[string]tool.ErrorKind{
		"/Work/No/New": tool.NotFound, "/New": kernel.InvalidPath, "/Work": kernel.InvalidPath, "/": kernel.InvalidPath,
		"/Work/a%2Fb": kernel.InvalidPath, "/Hidden/New": tool.NotFound, "/Hidden/Doc": tool.NotFound, "/Doc/New": tool.NotFound,
	} {
		kit.Refused(t, findAction(t, "write"), args("path", path, "markdown", "x", "overwrite", true), kind)
	}
	kit.Levels[work] = access.Read
	kit.Refused(t, findAction(t, "write"), args("path", "/Work/New", "markdown", "x"), tool.Denied)
	if writes := kit.Writes(); len(writes) > 0 {
		t.Errorf("refused calls wrote: %v", writes)
	}
}

func TestWriteNormalisesReferences(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, hidden := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Hidden")
	target := createDocument(t, kit, work, "/Target 目标", "first line")
	secret := createDocument(t, kit, hidden, "/Secret", "hush")
	blocks, err := kit.Client.ChildBlocks(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	kit.Levels[hidden] = access.None
	para := blocks[0].ID
	markdown := fmt.Sprintf("a ((%s)) b ((%s)) c ((%s 'mine')) d ((%s)) `((%s))` [^1]", para, target, para, secret, para)
	kit.ResetCalls()
	got := kit.Must(t, findAction(t, "write"), args("path", "/Work/New", "markdown", markdown+"\n\ne ((20990101000000-zzzzzzz))"))
	want := fmt.Sprintf("a ((%s 'first line')) b ((%s 'Target 目标')) c ((%s 'mine')) d %s `((%s))` [^1]",
		para, target, para, secret, para)
	if text := readText(t, kit, "/Work/New"); !strings.HasPrefix(text, want+"\n\ne ") {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	want += "\n\ne 20990101000000-zzzzzzz"
	if sent := kit.Writes()[0].Get("markdown").String(); content.Clean(sent) != want {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
	if n := len(got.Get("warnings").Array()); n != 3 {
		t.Errorf("%d warnings, want one for each unknown block and one for the footnote: %s", n, got.Raw)
	}
}

// checkOverwriteRefused prepares a document that must not be overwritten and returns the kit and the error.
func checkOverwriteRefused(t *testing.T, markdown string, prepare func(*actiontest.Kit, kernel.ID)) *tool.Error {
	t.Helper()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", markdown)
	prepare(kit, doc)
	before := readText(t, kit, "/Work/Doc")
	kit.ResetCalls()
	_, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
	if err == nil {
		t.Fatal("it was overwritten")
	}
	if writes := kit.Writes(); len(writes) > 0 {
		t.Errorf("a refused overwrite wrote: %v", writes)
	}
	if after := readText(t, kit, "/Work/Doc"); after != before {
		t.Errorf("the document is %q, was %q", after, before)
	}
	return mustBeToolError(t, err)
}

// findBlock finds a block of a type by a part of its text at any depth, or returns "".
func findBlock(t testing.TB, kit *actiontest.Kit, id kernel.ID, kind, text string) kernel.ID {
	t.Helper()
	children, err := kit.Client.ChildBlocks(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range children {
		if b.Type == kind && strings.Contains(b.Markdown, text) {
			return b.ID
		}
		if b.Type == "h" {
			continue
		}
		if found := findBlock(t, kit, b.ID, kind, text); found != "" {
			return found
		}
	}
	return ""
}

func TestOverwriteKeepsANamedListItem(t *testing.T) {
	t.Parallel()
	var item kernel.ID
	e := checkOverwriteRefused(t, "- a\n  - b\n    - c 深\n\ntext", func(kit *actiontest.Kit, doc kernel.ID) {
		item = findBlock(t, kit, doc, "p", "c 深")
		if err := kit.Client.SetAttrs(t.Context(), item, map[string]string{"name": "kept", "custom-x": "y"}); err != nil {
			t.Fatal(err)
		}
	})
	facts := gjson.ParseBytes(e.Payload()).Get("error")
	if e.Code != "structured_assets_overwrite_rejected" || facts.Get("type").String() != e.Code || facts.Get("protectedBlockCount").Int() != 1 ||
		facts.Get("protectedBlocks.0.id").String() != string(item) || facts.Get("protectedBlocks.0.assetKinds").Raw != `["custom","name"]` ||
		facts.Get("truncated").Bool() || facts.Get("path").String() != "/Work/Doc" || !facts.Get("recommendedFlow").Exists() {
		t.Errorf("got %s", facts.Raw)
	}
}

func TestOverwriteKeepsWhatIsReferredTo(t *testing.T) {
	t.Parallel()
	var para kernel.ID
	e := checkOverwriteRefused(t, "a\n\nb", func(kit *actiontest.Kit, doc kernel.ID) {
		para = findBlock(t, kit, doc, "p", "b")
		createDocument(t, kit, createNotebook(t, kit, "Other"), "/Elsewhere", fmt.Sprintf("see ((%s 'b'))", para))
	})
	facts := gjson.ParseBytes(e.Payload()).Get("error")
	if e.Code != "structured_assets_overwrite_rejected" || facts.Get("protectedBlocks.0.id").String() != string(para) ||
		facts.Get("protectedBlocks.0.assetKinds").Raw != `["ref"]` {
		t.Errorf("got %s", facts.Raw)
	}
}

func TestOverwriteKeepsADatabaseInAQuote(t *testing.T) {
	t.Parallel()
	e := checkOverwriteRefused(t, "> quoted", func(kit *actiontest.Kit, doc kernel.ID) {
		quote := findBlock(t, kit, doc, "b", "quoted")
		if _, err := kit.Client.Append(t.Context(), quote, "dom",
			`<div class="av" data-node-id="20240801120000-avblk01" data-av-id="20240801120000-avmain1" data-type="NodeAttributeView" data-av-type="table"></div>`); err != nil {
			t.Fatal(err)
		}
	})
	facts := gjson.ParseBytes(e.Payload()).Get("error")
	if e.Code != "complex_blocks_not_supported_by_fs" || facts.Get("type").String() != e.Code || facts.Get("complexBlocks.0.type").String() != "av" ||
		facts.Get("complexBlocks.0.id").String() != "20240801120000-avblk01" || !strings.Contains(facts.Get("recommendedTools").Raw, "av(") {
		t.Errorf("got %s", facts.Raw)
	}
}

func TestOverwriteRefusesTooManyBlocks(t *testing.T) {
	t.Parallel()
	e := checkOverwriteRefused(t, strings.Repeat("x\n\n", 10_001), func(*actiontest.Kit, kernel.ID) {})
	if e.Code != "overwrite_scan_limit" {
		t.Errorf("got %s", e.Payload())
	}
}

// TestOverwriteOfALongListIsJudgedAtOnce: what is deep in a document with many lists is found, by a
// number of requests that does not grow with them.
func TestOverwriteOfALongListIsJudgedAtOnce(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", strings.Repeat("- a\n  - b\n\n> q\n\n", 20)+"- last\n  - deep")
	named := findBlock(t, kit, doc, "p", "deep")
	overwrite := func(want tool.ErrorKind, id string) {
		t.Helper()
		kit.ResetCalls()
		e := mustBeToolError(t, kit.Refused(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), want))
		if !strings.Contains(string(e.Payload()), id) {
			t.Errorf("%s is not named: %s", id, e.Payload())
		}
		if n := len(kit.Calls()); n > 20 || len(kit.Writes()) > 0 {
			t.Errorf("%d requests, writes %v", n, kit.Writes())
		}
	}
	if err := kit.Client.SetAttrs(t.Context(), named, map[string]string{"memo": "keep"}); err != nil {
		t.Fatal(err)
	}
	overwrite(content.StructuredAssets, string(named))
	if err := kit.Client.SetAttrs(t.Context(), named, map[string]string{"memo": ""}); err != nil {
		t.Fatal(err)
	}
	if _, err := kit.Client.Update(t.Context(), named, "markdown", "<iframe src=\"https://example.com\"></iframe>"); err != nil {
		t.Fatal(err)
	}
	overwrite(content.ComplexBlocks, string(named))
	if _, err := kit.Client.Update(t.Context(), named, "markdown", "text"); err != nil {
		t.Fatal(err)
	}
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
	if text := readText(t, kit, "/Work/Doc"); text != "new" {
		t.Errorf("it holds %q", text)
	}
}

// An index that is behind, even after a flush, is not believed.
func TestOverwriteDoesNotTrustAnIndexThatIsBehind(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", strings.Repeat("> q\n\n- a\n\n", 10))
	blocks, err := kit.Client.ChildBlocks(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	interceptKernel(t, kit, func(path, body string) (string, string) {
		if path == "/api/query/sql" && strings.Contains(body, "id, type FROM blocks") {
			return body, `{"code":0,"msg":"","data":[{"id":"` + string(blocks[0].ID) + `","type":"b"}]}`
		}
		return body, ""
	})
	if _, err := kit.Client.Insert(t.Context(), kernel.Insertion{
		BlockContent: kernel.BlockContent{DataType: "markdown", Data: "<iframe src=\"https://example.com\"></iframe>"},
		Anchor:       kernel.Anchor{ParentID: blocks[0].ID},
	}); err != nil {
		t.Fatal(err)
	}
	kit.Refused(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), content.ComplexBlocks)
}

func TestOverwriteRefusesWhereAttributesCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"/api/attr/batchGetBlockAttrs", "/api/query/sql", "/api/block/getChildBlocks"} {
		t.Run(path.Base(endpoint), func(t *testing.T) {
			e := checkOverwriteRefused(t, "- a", func(kit *actiontest.Kit, _ kernel.ID) {
				kit.Must(t, findAction(t, "read"), `{"path":"/Work/Doc"}`)
				if endpoint == "/api/block/getChildBlocks" {
					kit.Fail(endpoint, 1, "") // that of the read in overwriteRefused
				}
				kit.Fail(endpoint, 1, kerneltest.FailMessage("broken"))
			})
			if e.Code != "overwrite_scan_failed" {
				t.Errorf("got %s", e.Payload())
			}
		})
	}
}

func TestOverwriteTakesReferencesWithinTheDocumentAlong(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "a")
	para := findBlock(t, kit, doc, "p", "a")
	if _, err := kit.Client.Append(t.Context(), doc, "markdown", fmt.Sprintf("see ((%s 'a'))", para)); err != nil {
		t.Fatal(err)
	}
	createDocument(t, kit, createNotebook(t, kit, "Other"), "/Elsewhere", fmt.Sprintf("the document itself ((%s 'Doc'))", doc))
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "# Doc\n\nnew", "overwrite", true))
	if text := readText(t, kit, "/Work/Doc"); text != "# Doc\n\nnew" {
		t.Errorf("the document holds %q", text)
	}
}

func TestOverwriteScanNamesAtMost50Blocks(t *testing.T) {
	t.Parallel()
	e := checkOverwriteRefused(t, strings.Repeat("x\n\n", 60), func(kit *actiontest.Kit, doc kernel.ID) {
		blocks, err := kit.Client.ChildBlocks(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if err := kit.Client.SetAttrs(t.Context(), b.ID, map[string]string{"bookmark": "b"}); err != nil {
				t.Fatal(err)
			}
		}
	})
	facts := gjson.ParseBytes(e.Payload()).Get("error")
	if facts.Get("protectedBlockCount").Int() != 60 || facts.Get("protectedBlocks.#").Int() != 50 || !facts.Get("truncated").Bool() {
		t.Errorf("got %s", facts.Raw)
	}
}

func TestOverwriteAppendsBeforeItDeletes(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old one\n\nold two")
	kit.ResetCalls()
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
	var order []string
	for _, c := range kit.Writes() {
		order = append(order, strings.TrimPrefix(c.Path, "/api/block/"))
	}
	if got := strings.Join(order, " "); got != "appendBlock deleteBlock deleteBlock" {
		t.Errorf("writes: %s", got)
	}
}

func TestFailedAppendKeepsOldText(t *testing.T) {
	t.Parallel()
	for _, mode := range []kerneltest.Mode{kerneltest.FailMessage("no"), kerneltest.FailServer, kerneltest.FailLost, kerneltest.FailClose} {
		t.Run(string(mode), func(t *testing.T) {
			kit := actiontest.New(t)
			createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old one\n\nold two")
			kit.Fail("/api/block/appendBlock", 1, mode)
			if _, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true)); err == nil {
				t.Errorf("%s: no error", mode)
			}
			if err := kit.Client.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if text := readText(t, kit, "/Work/Doc"); text != "old one\n\nold two" {
				t.Errorf("%s: the document holds %q", mode, text)
			}
		})
	}
}

func TestFailedDeleteRemovesNewText(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old one\n\nold two")
	kit.Fail("/api/block/deleteBlock", 1, kerneltest.FailMessage("no"))
	_, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
	if mustBeToolError(t, err).Kind != kernel.API {
		t.Errorf("got %v", err)
	}
	if err := kit.Client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := readText(t, kit, "/Work/Doc"); text != "old one\n\nold two" {
		t.Errorf("the document holds %q", text)
	}
}

func TestPartialDeleteReportsOldText(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old one\n\nold two")
	kit.Fail("/api/block/deleteBlock", 1, "")
	kit.Fail("/api/block/deleteBlock", 1, kerneltest.FailMessage("no"))
	_, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
	if got := mustBeToolError(t, err).Facts["recovery"]; got != "old one\n\nold two" {
		t.Errorf("recovery %q in %v", got, err)
	}
	if text := readText(t, kit, "/Work/Doc"); !strings.Contains(text, "new") {
		t.Errorf("the new text is gone: %q", text)
	}
}

func TestOverwriteManyBlocksInOneTransaction(t *testing.T) {
	t.Parallel()
	for _, mode := range []kerneltest.Mode{"", kerneltest.FailLost, kerneltest.FailMessage("no")} {
		t.Run("mode "+string(mode), func(t *testing.T) {
			kit := actiontest.New(t)
			createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", strings.Repeat("old\n\n", 100))
			kit.Fail("/api/transactions", 1, mode)
			kit.ResetCalls()
			_, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true))
			failed := strings.HasPrefix(string(mode), "msg")
			if (err != nil) != failed {
				t.Errorf("%s: %v", mode, err)
			}
			if err := kit.Client.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if text := readText(t, kit, "/Work/Doc"); !failed && text != "new" || failed && strings.Contains(text, "new") {
				t.Errorf("%s: the document holds %.60q", mode, text)
			}
			if n := len(kit.Writes()); n > 3 {
				t.Errorf("%s: %d writes for 100 blocks", mode, n)
			}
		})
	}
}

// A text that was copied with its attribute lists makes blocks with new ids: if the ids were kept,
// removing the old blocks would remove the new ones.
func TestWriteOfWhatWasReadAsKramdown(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one\n\n- two")
	text, err := kit.Client.Kramdown(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	kit.ResetCalls()
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Copy", "markdown", text))
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", text, "overwrite", true))
	if got := readText(t, kit, "/Work/Doc"); !strings.HasPrefix(got, "one\n\n- two") && !strings.HasPrefix(got, "one\n\n* two") {
		t.Errorf("it holds %q", got)
	}
	for _, c := range kit.Writes() {
		sent := c.Get("markdown").String() + c.Get("data").String()
		for id := range content.Attributes(text) {
			if strings.Contains(sent, string(id)) {
				t.Errorf("%s sends the id %s of a block that exists", c.Path, id)
			}
		}
	}
}
