package fs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

// editArg returns an edit as an argument.
func editArg(old, with string, all bool) map[string]any {
	return map[string]any{"old": old, "new": with, "replace_all": all}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "# Title\n\nfirst 第一 word\n\n- one\n- two\n\n> quote word\n\nlast")
	item := findBlock(t, kit, doc, "p", "two")
	if err := kit.Client.SetAttrs(t.Context(), item, map[string]string{"custom-keep": "x", "memo": "m"}); err != nil {
		t.Fatal(err)
	}
	kit.ResetCalls()
	got := kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", []any{
		editArg("第一", "第二", false), editArg("word", "term", true), editArg("- two", "- TWO\n- three", false), editArg("last", "last\n\n## More\n\nend 完", false),
	}))
	if text := readText(t, kit, "/Work/Doc"); text != "# Title\n\nfirst 第二 term\n\n- one\n- TWO\n- three\n\n> quote term\n\nlast\n\n## More\n\nend 完" {
		t.Errorf("the document holds %q", text)
	}
	if !got.Get("changed").Bool() || got.Get("editsApplied").Int() != 4 ||
		got.Get("replacements").Raw != `[{"index":0,"replaced":1,"replace_all":false},{"index":1,"replaced":2,"replace_all":true},{"index":2,"replaced":1,"replace_all":false},{"index":3,"replaced":1,"replace_all":false}]` {
		t.Errorf("got %s", got.Raw)
	}
	if found := findBlock(t, kit, doc, "p", "TWO"); found != item {
		t.Errorf("the paragraph in the item is %s, was %s", found, item)
	}
	attrs, err := kit.Client.Attrs(t.Context(), item)
	if err != nil || attrs["custom-keep"] != "x" || attrs["memo"] != "m" {
		t.Errorf("its attributes are %v, %v", attrs, err)
	}
	var writes []string
	for _, c := range kit.Writes() {
		writes = append(writes, c.Path)
	}
	if diff := cmp.Diff([]string{"/api/block/batchUpdateBlock", "/api/block/insertBlock"}, writes); diff != "" {
		t.Errorf("writes: -want +got:\n%s", diff)
	}
}

func TestReplaceTakesWhatReadShows(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "x")
	if _, err := kit.Client.Append(t.Context(), doc, "markdown", "see `very`\u200b useful **red**{: style=\"color: red;\"} end"); err != nil {
		t.Fatal(err)
	}
	text := readText(t, kit, "/Work/Doc")
	line := text[strings.LastIndex(text, "\n")+1:]
	if strings.ContainsAny(line, "\u200b{") {
		t.Fatalf("read shows %q", line)
	}
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("`very` useful", "good", false)))
	if got := readText(t, kit, "/Work/Doc"); !strings.Contains(got, "see good **red**") {
		t.Errorf("the document holds %q", got)
	}
}

// checkEditsRefused runs edits that must not be made and makes sure that nothing is written.
func checkEditsRefused(t *testing.T, kit *actiontest.Kit, code string, kind tool.ErrorKind, edits ...any) {
	t.Helper()
	kit.ResetCalls()
	e := mustBeToolError(t, kit.Refused(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", edits), kind))
	if e.Code != code || e.Hint == "" {
		t.Errorf("%v: code %q, want %q: %s", edits, e.Code, code, e.Payload())
	}
	if writes := kit.Writes(); len(writes) > 0 {
		t.Errorf("%v wrote %v", edits, writes)
	}
}

func TestReplaceRefusals(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one word\n\nanother word\n\n<iframe src=\"https://example.com/inside\"></iframe>\n\n- item\n- other")
	named := findBlock(t, kit, doc, "i", "item")
	if err := kit.Client.SetAttrs(t.Context(), named, map[string]string{"name": "n"}); err != nil {
		t.Fatal(err)
	}
	checkEditsRefused(t, kit, "block_boundary", tool.Conflicting, editArg("word\n\nanother", "x", false))
	checkEditsRefused(t, kit, "complex_block", tool.Conflicting, editArg("inside", "x", false))
	checkEditsRefused(t, kit, "text_not_found", tool.NotFound, editArg("nothing", "x", false))
	checkEditsRefused(t, kit, "several_matches", tool.Conflicting, editArg("word", "x", false))
	checkEditsRefused(t, kit, "attributes", tool.Conflicting, editArg("one", "{: name=\"n\"}", false))
	checkEditsRefused(t, kit, "attributes", tool.Conflicting, editArg("one", "one\n{: id='20240101000000-abcdefg' name=n}", false))
	checkEditsRefused(t, kit, "attributes", tool.Conflicting, editArg("one", "one\n{:\nid=\"20240101000000-abcdefg\"}", false))
	checkEditsRefused(t, kit, "attributes", tool.Conflicting, editArg("one word", "{: Z", false), editArg("Z", "id='20240101000000-abcdefg'}", false))
	checkEditsRefused(t, kit, "attributes", tool.Conflicting, editArg("- item\n", "", false))
	// The first edit is good, the second is not: neither is made.
	checkEditsRefused(t, kit, "text_not_found", tool.NotFound, editArg("one", "1", false), editArg("one", "x", false))
	got := kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("one", "1", false)))
	if got.Get("skippedComplexBlocks.0.type").String() != "iframe" || got.Get("warning").String() == "" || !got.Get("recommendedTools").Exists() {
		t.Errorf("blocks that were skipped are not named: %s", got.Raw)
	}
}

// TestReplaceKeepsCode: characters that the kernel would remove from inline code stay, also outside of the
// edited part.
func TestReplaceKeepsCode(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createNotebook(t, kit, "Work")
	const code = "`<b>` and `((20240101000000-abcdefg))` and `<kbd>`"
	kit.Must(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "one "+code))
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("one", "two", false)))
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("two", "three\n\nfour `<i>`", false)))
	if got := readText(t, kit, "/Work/Doc"); got != "three\n\nfour `<i>` "+code {
		t.Errorf("the document holds %q", got)
	}
}

func TestReplaceLevels(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/Doc", "one")
	call := args("path", "/Work/Doc", "edit", editArg("one", "two", false))
	for level, kind := range map[access.Level]tool.ErrorKind{access.None: tool.NotFound, access.Read: tool.Denied} {
		kit.Levels[nb] = level
		kit.ResetCalls()
		kit.Refused(t, findAction(t, "replace"), call, kind)
		if writes := kit.Writes(); len(writes) > 0 {
			t.Errorf("%s: wrote %v", level, writes)
		}
	}
	kit.Levels[nb] = access.Write
	kit.Must(t, findAction(t, "replace"), call)
}

func TestReplaceAliases(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one one")
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "old", "one", "new", "two", "replaceAll", "true"))
	if text := readText(t, kit, "/Work/Doc"); text != "two two" {
		t.Errorf("the document holds %q", text)
	}
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", `[{"old":"two two","new":"3"}]`))
	if text := readText(t, kit, "/Work/Doc"); text != "3" {
		t.Errorf("the document holds %q", text)
	}
	for _, left := range []string{
		`{"path":"/x","old":"","new":"b"}`, `{"path":"/x","old":"a"}`, `{"path":"/x","old":"a","new":"b","edit":{"old":"a","new":"b"}}`,
	} {
		if got := string(findAction(t, "replace").Adapt([]byte(left), "")); got != left {
			t.Errorf("%s became %s, want it left for the schema to refuse", left, got)
		}
	}
}

// The kernel normalizes texts: an edit whose result it turns into the former text again succeeds.
func TestReplaceTakesTheKernelsForm(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one *word* more")
	kit.OwnForm(t, "/api/block/updateBlock", "_word_", "*word*")
	got := kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("*word*", "_word_", false)))
	if got.Get("editsApplied").Int() != 1 {
		t.Errorf("got %s", got.Raw)
	}
}
