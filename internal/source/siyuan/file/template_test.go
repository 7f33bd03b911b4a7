package file_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestListTemplates(t *testing.T) {
	w := newWorkspace(t)
	w.File("/data/templates/b.md", []byte("b"))
	got := w.Must(t, findAction(t, "list_templates"), args("pageSize", 1))
	if got.Get("total").Int() != 2 || !got.Get("hasNextPage").Bool() || got.Get("data.0.relativePath").String() != "b.md" {
		t.Errorf("templates: %s", got.Raw)
	}
	got = w.Must(t, findAction(t, "list_templates"), args("query", "会议"))
	w.mustRun("read_template", got.Get("data.0.readArgs").Raw).wantMembers(args("relativePath", "work/meeting 会议.md"))
	render := strings.ReplaceAll(got.Get("data.0.renderArgsTemplate").Raw, "BLOCK_ID", string(w.openDoc))
	w.mustRun("render", render)
	w.mustRun("list_templates", args("query", "zzz")).wantMembers(args("data", []string{}, "total", 0, "pageCount", 1))
	w.wantRefused("list_templates", args("page", "x"), tool.Invalid)
}

func TestReadTemplate(t *testing.T) {
	w := newWorkspace(t)
	const path, text = "work/meeting 会议.md", "# .action{.title}\n\n会议 notes"
	w.mustRun("read_template", args("path", path)).wantMembers(args("markdown", text, "totalChars", 27, "truncated", false))
	whole := w.Must(t, findAction(t, "list_templates"), args("query", "会议")).Get("data.0.path").Str
	w.mustRun("read_template", args("path", whole)).wantMembers(args("relativePath", path))
	w.mustRun("read_template", args("path", path, "offset", 19, "limit", 2)).wantMembers(args("markdown", "会议", "truncated", true, "nextOffset", 21))
	w.wantRefused("read_template", args("path", path, "offset", 28), tool.Invalid)
	w.wantRefused("read_template", args("path", "work/none.md"), tool.NotFound)
	e := w.wantRefused("read_template", args("path", "/workspace/conf/conf.json"), kernel.InvalidPath)
	if e.Facts["reason"] != "path_not_in_workspace" {
		t.Errorf("facts: %v", e.Facts)
	}
}

func TestRender(t *testing.T) {
	w := newWorkspace(t)
	got := w.Must(t, findAction(t, "render"), args("engine", "template", "id", w.openDoc, "path", "work/meeting 会议.md"))
	if content := got.Get("content").String(); !strings.Contains(content, "Doc 文档") || !strings.Contains(content, "data-node-id") {
		t.Errorf("rendered: %s", got.Raw)
	}
	w.mustRun("render", args("engine", "sprig", "template", `{{ upper "abc" }}`)).wantMembers(args("engine", "sprig", "content", "ABC"))
	e := w.wantRefused("render", args("engine", "sprig", "template", `{{ env "HOME" }}`), kernel.API)
	if !strings.Contains(e.Message, `function "env" not defined`) {
		t.Errorf("message: %s", e.Message)
	}
	for _, a := range []string{
		args("engine", "sprig"), args("engine", "template", "path", "x.md"), args("engine", "template", "id", w.openDoc),
	} {
		w.wantRefused("render", a, tool.Invalid)
	}
	for _, a := range []string{
		args("engine", "sprig", "template", "x", "path", "x.md"), args("engine", "template", "id", w.openDoc, "path", "x.md", "template", "x"),
	} {
		w.wantRefused("render", a, tool.Conflicting)
	}
	w.wantRefused("render", args("engine", "template", "id", actiontest.Nowhere, "path", "x.md"), tool.NotFound)
}

// TestRenderReadsEverything: templates can query all notes, so one that does more than texts, numbers and dates needs
// that none is hidden. All others may be rendered by anyone.
func TestRenderReadsEverything(t *testing.T) {
	w := newWorkspace(t)
	const query = `{{ range queryBlocks "SELECT * FROM blocks WHERE type='d' LIMIT 9" }}{{ .Content }} {{ end }}`
	w.File("/data/templates/query.md", []byte(`.action{ range queryBlocks "SELECT * FROM blocks LIMIT 9" }.action{ .Content } .action{ end }`))
	got := w.Must(t, findAction(t, "render"), args("engine", "sprig", "template", query))
	if !strings.Contains(got.Raw, "CANARY") {
		t.Fatalf("the kernel's templates can query, or this test shows nothing: %s", got.Raw)
	}
	w.Levels[w.otherNotebook] = access.Read
	w.mustRun("render", args("engine", "sprig", "template", query))
	w.hideOther()
	for _, a := range []string{
		args("engine", "sprig", "template", query), args("engine", "template", "id", w.openDoc, "path", "query.md"),
		args("engine", "template", "id", w.openDoc, "path", "/workspace/data/templates/query.md"),
	} {
		if strings.Contains(a, "/workspace") {
			whole := w.Must(t, findAction(t, "list_templates"), args("query", "query")).Get("data.0.path").Str
			a = args("engine", "template", "id", w.openDoc, "path", whole)
		}
		e := w.wantRefused("render", a, tool.Denied)
		if text := string(e.Payload()); strings.Contains(text, "CANARY") || strings.Contains(text, string(w.otherNotebook)) || !strings.Contains(text, "queryBlocks") {
			t.Errorf("the refusal tells %s", text)
		}
		for _, c := range w.Calls() {
			if strings.HasPrefix(c.Path, "/api/template/") {
				t.Errorf("a template ran: %s", c.Body)
			}
		}
	}
	w.mustRun("render", args("engine", "sprig", "template", `{{ upper "abc" }}`)).wantMembers(args("content", "ABC"))
	w.mustRun("render", args("engine", "template", "id", w.openDoc, "path", "work/meeting 会议.md"))
	missing := w.wantRefused("render", args("engine", "template", "id", actiontest.Nowhere, "path", "x.md"), tool.NotFound)
	actiontest.SameRefusal(t, w.wantRefused("render", args("engine", "template", "id", w.otherDoc, "path", "x.md"), tool.NotFound), missing, string(w.otherDoc), actiontest.Nowhere)
}

// TestRenderOfReferences: a kernel fills in an anchor that a template leaves empty, and must not show hidden text in
// it.
func TestRenderOfReferences(t *testing.T) {
	w := newWorkspace(t)
	w.File("/data/templates/refs.md", []byte("see (("+string(w.otherDoc)+")) and (("+string(w.openDoc)+"))"))
	w.hideOther()
	got := w.Must(t, findAction(t, "render"), args("engine", "template", "id", w.openDoc, "path", "refs.md"))
	if strings.Contains(got.Raw, "CANARY") || !strings.Contains(got.Raw, "see") {
		t.Errorf("%s", got.Raw)
	}
}

// TestRenderOfBlock: a template for a block is one for its document, which alone has a title.
func TestRenderOfBlock(t *testing.T) {
	w := newWorkspace(t)
	blocks, err := w.Client.ChildBlocks(t.Context(), w.openDoc)
	if err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "render"), args("engine", "template", "id", blocks[0].ID, "path", "work/meeting 会议.md"))
	if !strings.Contains(got.Get("content").Str, "Doc 文档") {
		t.Errorf("%s", got.Raw)
	}
}

// TestRenderOnce: a template that keeps the kernel busy is not given to it again.
func TestRenderOnce(t *testing.T) {
	w := newWorkspace(t)
	w.Client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, ReadTimeout: time.Second})
	t.Cleanup(w.Client.Close)
	w.Fail("/api/template/renderSprig", 4, kerneltest.FailHang)
	err := w.Refused(t, findAction(t, "render"), args("engine", "sprig", "template", "{{ range until 100000000 }}x{{ end }}"), tool.Unavailable)
	if e, ok := errors.AsType[*tool.Error](err); !ok || !strings.Contains(e.Hint, "loops") {
		t.Errorf("%v", err)
	}
	n := 0
	for _, c := range w.Calls() {
		if c.Path == "/api/template/renderSprig" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the kernel was asked %d times", n)
	}
}
