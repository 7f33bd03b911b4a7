package content_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// newRequest returns a request of an action without arguments.
func newRequest(t *testing.T, kit *actiontest.Kit) *action.Request {
	t.Helper()
	a := action.New(action.Spec{Tool: "probe", Name: "probe", Purpose: "probe", Class: action.State, Unguarded: "a test", Example: `{}`},
		func(context.Context, *action.Request, action.None) (any, error) { return nil, nil })
	return kit.Request(t, a, `{}`)
}

// newDocument makes a notebook with one document.
func newDocument(t *testing.T, kit *actiontest.Kit, markdown string) (notebook, doc kernel.ID, blocks []kernel.Block) {
	t.Helper()
	n, err := kit.Client.CreateNotebook(t.Context(), "Work")
	if err != nil {
		t.Fatal(err)
	}
	id, err := kit.Client.CreateDocument(t.Context(), n.ID, "/Doc 文档", markdown, kernel.NewID())
	if err != nil {
		t.Fatal(err)
	}
	blocks, err = kit.Client.ChildBlocks(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n.ID, id, blocks
}

func TestState(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	_, doc, blocks := newDocument(t, kit, "# A\n\nunder\n\n- item")
	ids := []kernel.ID{blocks[0].ID, doc, "20990101000000-zzzzzzz"}
	hash, saved, err := content.State(t.Context(), kit.Client, ids)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) != 3 || saved[0].ID != blocks[0].ID || !strings.HasPrefix(saved[0].Kramdown, "# A\n{:") || len(saved[1].Children) != 3 ||
		saved[1].Attrs["title"] != "Doc 文档" || saved[2].Kramdown != "" || saved[2].Children != nil {
		t.Errorf("got %+v", saved)
	}
	again, _, err := content.State(t.Context(), kit.Client, ids)
	if err != nil || again != hash {
		t.Errorf("the state has the hash %s and then %s, %v", hash, again, err)
	}
	for name, change := range map[string]func() error{
		"attribute": func() error { return kit.Client.SetAttrs(t.Context(), blocks[0].ID, map[string]string{"memo": "m"}) },
		"text": func() error {
			_, err := kit.Client.Update(t.Context(), blocks[1].ID, "markdown", "changed")
			return err
		},
		"block": func() error {
			_, err := kit.Client.Append(t.Context(), doc, "markdown", "more")
			return err
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		now, _, err := content.State(t.Context(), kit.Client, ids)
		if err != nil || now == hash {
			t.Errorf("%s: the hash is still %s, %v", name, now, err)
		}
		hash = now
	}
	kit.Fail("/api/block/getBlockKramdowns", 1, kerneltest.FailMessage("broken"))
	if _, _, err := content.State(t.Context(), kit.Client, ids); err == nil {
		t.Error("a state that cannot be read has a hash")
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb, doc, blocks := newDocument(t, kit, "## The **heading** 'x'\n\n- [ ] a task 任务\n\n```\ncode\n```")
	h, list := string(blocks[0].ID), string(blocks[1].ID)
	for given, want := range map[string]string{
		"a ((" + h + "))":             "a ((" + h + " 'The heading ’x’'))",
		"((" + list + "))":            "((" + list + " 'a task 任务'))",
		"((" + string(doc) + "))":     "((" + string(doc) + " 'Doc 文档'))",
		"(( " + h + "  'mine' ))":     "((" + h + " 'mine'))",
		"((" + h + ` "fixed"))`:       "((" + h + ` "fixed"))`,
		"((" + h + " ''))":            "((" + h + " 'The heading ’x’'))",
		"`((" + h + "))` ((nothing))": "`((" + h + "))` ((nothing))",
		"```\n((" + h + "))\n```":     "```\n((" + h + "))\n```",
		"no reference":                "no reference",
	} {
		got, warnings, err := content.Normalize(t.Context(), newRequest(t, kit), given, "")
		if err != nil || content.Clean(got) != want || len(warnings) > 0 {
			t.Errorf("%q: got %q, %v, %v, want %q", given, got, warnings, err, want)
		}
		if inCode := strings.HasPrefix(given, "`(("); inCode != strings.Contains(got, "\u200b") {
			t.Errorf("%q: got %q, want what looks like a reference in inline code guarded, and nothing else", given, got)
		}
	}
	for given, part := range map[string]string{"x[^1]": "footnotes", "[a](siyuan://blocks/" + h + ")": "siyuan://", "((20990101000000-zzzzzzz))": "no such block"} {
		_, warnings, err := content.Normalize(t.Context(), newRequest(t, kit), given, "")
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], part) {
			t.Errorf("%q: warnings %q, %v", given, warnings, err)
		}
	}
	// A hidden block is treated as one that does not exist.
	kit.Levels[nb] = access.None
	got, warnings, err := content.Normalize(t.Context(), newRequest(t, kit), "(("+h+"))", "")
	want, others, err2 := content.Normalize(t.Context(), newRequest(t, kit), "((20990101000000-zzzzzzz))", "")
	swap := func(s string) string { return strings.ReplaceAll(s, "20990101000000-zzzzzzz", h) }
	if err != nil || err2 != nil || got != swap(want) || strings.Join(warnings, "") != swap(strings.Join(others, "")) {
		t.Errorf("hidden: %q %q, missing: %q %q", got, warnings, want, others)
	}
}

func TestKeepAttrs(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	_, _, blocks := newDocument(t, kit, "a")
	id := blocks[0].ID
	before := map[kernel.ID]map[string]string{
		id:                       {"id": string(id), "memo": "m 记", "custom-a": "b", "updated": "20200101000000"},
		"20990101000000-zzzzzzz": {"name": "gone"},
	}
	now := map[kernel.ID]map[string]string{id: {"id": string(id), "custom-a": "b"}}
	if err := kit.Client.SetAttrs(t.Context(), id, map[string]string{"custom-a": "b"}); err != nil {
		t.Fatal(err)
	}
	kit.ResetCalls()
	if err := content.KeepAttrs(t.Context(), kit.Client, before, now); err != nil {
		t.Fatal(err)
	}
	writes := kit.Writes()
	if len(writes) != 1 || writes[0].Get("attrs").Raw != `{"memo":"m 记"}` {
		t.Errorf("writes %v, want only what is missing", writes)
	}
	kit.ResetCalls()
	if err := content.KeepAttrs(t.Context(), kit.Client, before, before); err != nil || len(kit.Calls()) > 0 {
		t.Errorf("with nothing missing: %v, %v", err, kit.Calls())
	}
}

func TestReplaceOneBlock(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	_, doc, blocks := newDocument(t, kit, "one\n\ntwo one")
	got, err := content.Replace(t.Context(), newRequest(t, kit), string(blocks[1].ID), blocks[1:], content.Edits{{Old: "one", New: "1"}})
	if err != nil || !got.Changed || !cmp.Equal(got.ChangedBlocks, []kernel.ID{blocks[1].ID}) {
		t.Fatalf("got %+v, %v", got, err)
	}
	w, err := content.ReadWindow(t.Context(), newRequest(t, kit), doc, content.WindowOptions{BlockLimit: 50, TokenBudget: 2000})
	if err != nil || w.Content != "one\n\ntwo 1" {
		t.Errorf("got %+v, %v", w, err)
	}
}

func TestReplaceRestThatIsNotWrittenIsInTheError(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	_, _, blocks := newDocument(t, kit, "one")
	kit.Fail("/api/block/insertBlock", 1, kerneltest.FailMessage("no"))
	_, err := content.Replace(t.Context(), newRequest(t, kit), "x", blocks, content.Edits{{Old: "one", New: "1\n\nmore 更多"}})
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Facts["recovery"] != "more 更多" {
		t.Errorf("got %v", err)
	}
}

func TestEditsTakeOneOrSeveral(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]content.Edits{
		`{"old":"a","new":"b"}`: {{Old: "a", New: "b"}}, `[{"old":"a","new":"","replace_all":true}]`: {{Old: "a", All: true}},
	} {
		var got content.Edits
		if err := got.UnmarshalJSON([]byte(given)); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", given, got, err)
		}
	}
	var got content.Edits
	if err := got.UnmarshalJSON([]byte(`"text"`)); err == nil {
		t.Error("a text is not an edit")
	}
}

func TestCleanAndTokens(t *testing.T) {
	t.Parallel()
	if got := content.Clean("a\u200bb\u200c\u200d\u2060\ufeff中"); got != "ab中" {
		t.Errorf("got %q", got)
	}
	for text, want := range map[string]int{"": 0, "abc": 1, "abcd": 1, "abcde": 2, "中文字符号": 2, "😀😀": 1, "😀😀a": 2} {
		if got := content.Tokens(text); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
	for given, want := range map[string]string{"# T\n\nbody": "body", "\n# T \nbody": "body", "# Other\n\nbody": "# Other\n\nbody", "## T\nx": "## T\nx", "# T": ""} {
		if got := content.WithoutTitle(given, "T"); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}
