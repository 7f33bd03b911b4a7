package document_test

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	got := k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "项目/ Alpha /", "markdown", "# Alpha\n\nbody 正文", "icon", "📔"))
	id := got.Get("id").String()
	if got.Get("hPath").String() != "/项目/Alpha" || hpathOf(t, k, id) != "/项目/Alpha" || got.Get("title").String() != "Alpha" {
		t.Fatalf("created %s", got.Raw)
	}
	if !strings.HasSuffix(got.Get("path").String(), "/"+id+".sy") {
		t.Errorf("the storage path is %s", got.Get("path"))
	}
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(id))
	if err != nil || len(blocks) != 1 || blocks[0].Markdown != "body 正文" {
		t.Errorf("the body is %+v, %v: the title must not be in it", blocks, err)
	}
	attrs, err := k.Client.Attrs(t.Context(), kernel.ID(id))
	if err != nil || attrs["icon"] != "1f4d4" {
		t.Errorf("the icon is %q, %v", attrs["icon"], err)
	}
	for _, c := range k.Calls() {
		if c.Path == "/api/filetree/createDocWithMd" && c.Get("id").String() != id {
			t.Errorf("the id was not ours: %s", c.Body)
		}
	}
}

func TestCreateBelow(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	first, second := k.Doc(nb, "/P", ""), k.Doc(nb, "/P", "") // two documents with the same human path
	for parent, want := range map[string]string{"/": "", storagePathOf(first): first, storagePathOf(second): second} {
		got := k.Must(t, findAction(t, "create"), args("notebook", nb, "parentPath", parent, "title", "C"+want))
		above := strings.TrimSuffix(got.Get("path").String(), "/"+got.Get("id").String()+".sy")
		if strings.TrimPrefix(above, "/") != want {
			t.Errorf("below %s: %s", parent, got.Raw)
		}
	}
	e := k.Refused(t, findAction(t, "create"), args("notebook", nb, "parentPath", "/P", "title", "C"), tool.Ambiguous)
	if !strings.Contains(errorPayload(e), first) || !strings.Contains(errorPayload(e), second) {
		t.Errorf("the candidates are not named: %v", e)
	}
	k.Doc(nb, "/Q", "")
	got := k.Must(t, findAction(t, "create"), args("notebook", nb, "parentPath", "Q", "title", "C"))
	if got.Get("hPath").String() != "/Q/C" || got.Get("resolvedParentPath").String() != "/Q" {
		t.Errorf("below /Q: %s", got.Raw)
	}
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	inOther := k.Doc(other, "/O", "")
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Conflicting, args("notebook", nb)},
		{tool.Conflicting, args("notebook", nb, "path", "/A", "title", "B")},
		{tool.Conflicting, args("notebook", nb, "title", "B")},
		{tool.Invalid, args("notebook", nb, "path", "/")},
		{tool.Invalid, args("notebook", nb, "path", "/A/ /B")},
		{tool.Invalid, args("notebook", nb, "path", "/A/../B")}, // the kernel would make /B
		{tool.Invalid, args("notebook", nb, "path", "/A/.")},
		{tool.Invalid, args("notebook", nb, "path", "/\u200b\u200d")}, // "Untitled"
		{tool.Conflicting, args("notebook", nb, "parentPath", inOther, "title", "B")},
		{tool.Conflicting, args("notebook", nb, "parentPath", other, "title", "B")},
		{tool.NotFound, args("notebook", nb, "parentPath", actiontest.Nowhere, "title", "B")},
		{tool.Invalid, args("notebook", nb, "parentPath", "/", "title", "a/b")},
		{tool.Invalid, args("notebook", nb, "path", "/A", "icon", "book")},
		{tool.Invalid, args("notebook", nb, "path", "/"+strings.Repeat("长", 513))},
		{tool.Invalid, args("notebook", nb, "path", "/1/2/3/4/5/6/7/8")}, // the kernel would leave the parents behind
		{kernel.InvalidPath, args("notebook", nb, "path", storagePathOf(inOther))},
		{tool.NotFound, args("notebook", nb, "parentPath", "/nowhere", "title", "B")},
		{tool.NotFound, args("notebook", nb, "parentPath", storagePathOf(inOther), "title", "B")},
		{tool.NotFound, args("notebook", nb, "parentPath", storagePathOf(actiontest.Nowhere), "title", "B")},
	} {
		k.Refused(t, findAction(t, "create"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}

// A parent may be named by its id too.
func TestCreateBelowID(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/P", "")
	for parent, want := range map[string]string{id: "/P/C", nb: "/C", storagePathOf(nb): "/D"} {
		got := k.Must(t, findAction(t, "create"), args("notebook", nb, "parentPath", parent, "title", want[len(want)-1:]))
		if got.Get("hPath").String() != want {
			t.Errorf("below %s: %s", parent, got.Raw)
		}
	}
}

// The result has the title that the kernel made of the one that was given.
func TestCreateTitles(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	for given, want := range map[string]string{
		"a\u200bb": "ab", "会议 😀": "会议 😀", "100% #x": "100% #x", `"q" & <b> 's`: `"q" & <b> 's`, "a\\b": "a\\b", "家 👨\u200d👩\u200d👧": "家 👨\u200d👩\u200d👧",
		"...": "...", "a%2Fb": "a%2Fb", "&amp;": "&amp;", " 全角　": "全角", "{{.x}}": "{{.x}}", strings.Repeat("😀", 512): strings.Repeat("😀", 512),
	} {
		got := k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "/"+given))
		if got.Get("title").String() != want || hpathOf(t, k, got.Get("id").String()) != "/"+want {
			t.Errorf("%q: %s", given, got.Raw)
		}
		if found := k.Must(t, findAction(t, "lookup"), args("notebook", nb, "hpath", got.Get("hPath").String())); found.Get("idPath.id").String() != got.Get("id").String() {
			t.Errorf("%q is not found again: %s", want, found.Raw)
		}
	}
}

// A title with joined emoji is not found by its path as others are.
func TestCreateBelowJoined(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	const up = "/👩\u200d💻 dev"
	paths := []string{up, up + "/a", up + "/b/c", "/plain/👨\u200d👩\u200d👧/x"}
	for _, at := range paths {
		got := k.Must(t, findAction(t, "create"), args("notebook", nb, "path", at, "markdown", "text"))
		if got.Get("hPath").Str != at || hpathOf(t, k, got.Get("id").Str) != at {
			t.Errorf("created %s", got.Raw)
		}
		k.Refused(t, findAction(t, "create"), args("notebook", nb, "path", at), tool.Exists)
	}
	k.Must(t, findAction(t, "create"), args("notebook", nb, "parentPath", up, "title", "d"))
	docs, err := k.Client.Documents(t.Context(), kernel.ID(nb), "/")
	if err != nil || len(docs) != 2 {
		t.Errorf("at the top are %+v, %v", docs, err)
	}
	for _, c := range k.Calls() {
		if at := c.Get("path").String(); c.Path == "/api/filetree/createDocWithMd" && strings.Contains(at[:strings.LastIndex(at, "/")], "\u200d") {
			t.Errorf("the kernel would not find the parent of %q", at)
		}
	}
	k.Client = kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: fakeAnswer("/api/filetree/getIDsByHPath", "[]")})
	t.Cleanup(k.Client.Close)
	for _, at := range paths {
		if got := k.Must(t, findAction(t, "lookup"), args("notebook", nb, "hpath", at)); got.Get("humanPath.hPath").Str != at {
			t.Errorf("%s is %s", at, got.Raw)
		}
	}
}

// How many levels of documents are allowed depends on the settings of the kernel. If it refuses, which it does in its
// own language, the hint names the level.
func TestCreateTooDeep(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/1/2/3/4/5/6/7", "")
	k.Fail("/api/filetree/createDocWithMd", 1, kerneltest.FailMessage("当前设置不允许"))
	e, ok := errors.AsType[*tool.Error](k.Failed(t, findAction(t, "create"), args("notebook", nb, "parentPath", id, "title", "8"), kernel.API))
	if !ok || !strings.Contains(e.Hint, "level 8") {
		t.Errorf("the hint is %q", e.Hint)
	}
	other := k.Doc(nb, "/O", "")
	k.Fail("/api/filetree/moveDocsByID", 1, kerneltest.FailMessage("当前设置不允许"))
	e, ok = errors.AsType[*tool.Error](k.Failed(t, findAction(t, "move"), args("fromIDs", []string{other}, "toID", id), kernel.API))
	if !ok || !strings.Contains(e.Hint, "level 8") {
		t.Errorf("the hint is %q", e.Hint)
	}
}

func TestCreateTwice(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	call := args("notebook", nb, "path", "/D")
	id := k.Must(t, findAction(t, "create"), call).Get("id").String()
	e, ok := errors.AsType[*tool.Error](k.Refused(t, findAction(t, "create"), call, tool.Exists))
	if !ok || e.Facts["id"] != kernel.ID(id) {
		t.Errorf("the error has %v", e.Facts)
	}
	k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "/D", "allowDuplicate", true))
	if ids, err := k.Client.IDsByHPath(t.Context(), kernel.ID(nb), "/D"); err != nil || len(ids) != 2 {
		t.Errorf("there are %v, %v", ids, err)
	}
}

// Even if the answer is lost, the outcome for the document is known.
func TestCreateAnswerLost(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	k.Fail("/api/filetree/createDocWithMd", 1, kerneltest.FailLost)
	got := k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "/D"))
	if hpathOf(t, k, got.Get("id").String()) != "/D" {
		t.Errorf("created %s", got.Raw)
	}
	k.Fail("/api/filetree/createDocWithMd", 1, kerneltest.FailClose)
	k.Failed(t, findAction(t, "create"), args("notebook", nb, "path", "/E"), kernel.OutcomeUnknown)
}

func TestCreateReference(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	got := k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "/D", "markdown", "see (("+actiontest.Nowhere+"))"))
	if !strings.Contains(got.Get("warnings").Raw, actiontest.Nowhere) {
		t.Errorf("a reference to nothing goes without a word: %s", got.Raw)
	}
}

func TestCreateGuarded(t *testing.T) {
	t.Parallel()
	on, missing := guardedByNotebook("notebook", "path", "/D")
	checkGuarded(t, "create", access.Write, on, missing)
}

// A text that was copied from blocks with its ids makes blocks with ids of their own.
func TestCreateRenewsIDs(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	text, err := k.Client.Kramdown(t.Context(), kernel.ID(k.Doc(nb, "/D", "one\n\n- two")))
	if err != nil {
		t.Fatal(err)
	}
	k.ResetCalls()
	k.Must(t, findAction(t, "create"), args("notebook", nb, "path", "/Copy", "markdown", text))
	for _, c := range k.Writes() {
		for id := range content.Attributes(text) {
			if strings.Contains(c.Get("markdown").String(), string(id)) {
				t.Errorf("%s sends the id %s of a block that exists", c.Path, id)
			}
		}
	}
}
