package content_test

import (
	"regexp"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/kernel"
)

// copies is a notebook whose blocks show texts of a hidden one, as kernels write them.
type copies struct {
	*actiontest.Kit
	open, hidden        kernel.ID
	secret, secretDoc   kernel.ID
	doc, direct, second kernel.ID
}

func newCopies(t *testing.T) *copies {
	t.Helper()
	k := &copies{Kit: actiontest.New(t)}
	k.open, k.hidden = kernel.ID(k.Notebook("Open")), kernel.ID(k.Notebook("Hidden"))
	k.secretDoc = kernel.ID(k.Doc(string(k.hidden), "/Hushed", "hush"))
	k.secret = k.onlyBlock(t, k.secretDoc)
	k.doc = kernel.ID(k.Doc(string(k.open), "/Copies", "see (("+string(k.secret)+" 'HUSH&#39;)) &lt;HUSH')) and **(("+string(k.secretDoc)+" 'HUSH'))** end"))
	k.direct = k.onlyBlock(t, k.doc)
	k.second = kernel.ID(k.Doc(string(k.open), "/Second", "# at (("+string(k.direct)+" 'see HUSH')) of (("+string(k.doc)+" 'Copies')) with (("+string(k.secret)+" \"own\"))"))
	k.Levels[k.hidden] = access.None
	return k
}

// onlyBlock returns the one block of a document.
func (k *copies) onlyBlock(t *testing.T, doc kernel.ID) kernel.ID {
	t.Helper()
	blocks, err := k.Client.ChildBlocks(t.Context(), doc)
	if err != nil || len(blocks) != 1 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	return blocks[0].ID
}

func (k *copies) request(t *testing.T) *action.Request {
	t.Helper()
	return k.Request(t, actiontest.Find(t, block.Tool(), "dom"), actiontest.Args("id", k.doc))
}

// TestRedactor: an anchor that follows a hidden block is not shown, nor one that follows a block which shows such an
// anchor. Titles, other anchors and the words around stay.
func TestRedactor(t *testing.T) {
	t.Parallel()
	k := newCopies(t)
	secret, doc, direct := string(k.secret), string(k.doc), string(k.direct)
	for _, c := range []struct{ text, want string }{
		{"a ((" + secret + " 'HUSH')) b", "a ((" + secret + " '')) b"},
		{"a ((" + secret + " 'HUSH')) ((" + secret + " 'HU&#39;SH'))", "a ((" + secret + " '')) ((" + secret + " ''))"},
		{"a ((" + direct + " 'see HUSH')) b", "a ((" + direct + " '')) b"},
		{"a ((20990101000000-zzzzzzz 'HUSH'))", "a ((20990101000000-zzzzzzz ''))"},
		{"a ((" + doc + " 'Copies')) b", "a ((" + doc + " 'Copies')) b"},
		{"a ((" + secret + ` "own")) b`, "a ((" + secret + ` "own")) b`},
		{`<div>x <span data-type="strong block-ref" data-subtype="d" data-id="` + secret + `">HUSH</span> y</div>`, `<div>x <span data-type="strong block-ref" data-subtype="d" data-id="` + secret + `"></span> y</div>`},
		{`<span data-id="` + secret + `" data-type="block-ref" data-subtype="d">HUSH</span>`, `<span data-id="` + secret + `" data-type="block-ref" data-subtype="d"></span>`},
		{`<span data-type="block-ref" data-subtype="s" data-id="` + secret + `">own</span>`, `<span data-type="block-ref" data-subtype="s" data-id="` + secret + `">own</span>`},
		{`<span data-type="block-ref" data-subtype="d" data-id="` + doc + `">Copies</span>`, `<span data-type="block-ref" data-subtype="d" data-id="` + doc + `">Copies</span>`},
		{"was (( 'HUSH')) there", "was (( '')) there"},
		{`was <span data-type="block-ref" data-subtype="" data-id="">HUSH</span>`, `was <span data-type="block-ref" data-subtype="" data-id=""></span>`},
		{`<span data-type="strong">strong</span> <span data-type="a" data-href="x">((link 'y'))</span>`, `<span data-type="strong">strong</span> <span data-type="a" data-href="x">((link 'y'))</span>`},
		{"nothing", "nothing"},
	} {
		redactor, err := content.NewRedactor(t.Context(), k.request(t), c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := redactor.Text(c.text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, got, c.want)
		}
		if redactor.HidesAnchorIn(c.text) != (c.text != c.want) {
			t.Errorf("%s: covered: %v", c.text, redactor.HidesAnchorIn(c.text))
		}
	}
	k.Levels[k.hidden] = access.Read
	k.ResetCalls()
	redactor, err := content.NewRedactor(t.Context(), k.request(t), "(("+secret+" 'HUSH'))")
	if redactor != nil || err != nil {
		t.Errorf("with nothing hidden: %v, %v", redactor, err)
	}
	if calls := k.Calls(); len(calls) > 1 { // the list of notebooks, for the levels
		t.Errorf("with nothing hidden: %v", calls)
	}
}

var idPattern = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

// TestReadsShowNoCopies: no action that reads shows a text that the kernel copied from a hidden block.
func TestReadsShowNoCopies(t *testing.T) {
	t.Parallel()
	k := newCopies(t)
	for _, c := range []struct {
		tool action.Tool
		act  string
		args string
	}{
		{fs.Tool(), "read", actiontest.Args("path", "/Open/Copies")},
		{fs.Tool(), "read", actiontest.Args("path", "/Open/Second")},
		{fs.Tool(), "search", actiontest.Args("path", "/Open", "query", ".", "regex", true)},
		{fs.Tool(), "search", actiontest.Args("path", "/Open", "query", "hush")},
		{block.Tool(), "get_kramdown", actiontest.Args("id", k.doc)},
		{block.Tool(), "get_children", actiontest.Args("id", k.doc, "verbose", true)},
		{block.Tool(), "batch_kramdown", actiontest.Args("ids", []kernel.ID{k.doc, k.direct, k.second}, "mode", "textmark")},
		{block.Tool(), "dom", actiontest.Args("id", k.second)},
		{block.Tool(), "breadcrumb", actiontest.Args("id", k.onlyBlock(t, k.second))},
		{block.Tool(), "recent_updated", actiontest.Args("verbose", true)},
	} {
		got := k.Must(t, actiontest.Find(t, c.tool, c.act), c.args)
		plain := idPattern.ReplaceAllString(strings.ReplaceAll(got.Raw, `"query":"hush"`, ""), "ID") // the random letters of an id may spell the word
		if strings.Contains(strings.ToLower(plain), "hush") || got.Get("scannedDocs").Int() > 0 && got.Get("query").Str == "hush" && got.Get("total").Int() != 0 {
			t.Errorf("%s.%s %s shows what is hidden: %s", c.tool.Name, c.act, c.args, got.Raw)
		}
	}
}

// TestReplaceBesideACopy: an edit works on the text as it was read. It neither matches nor changes a hidden anchor.
func TestReplaceBesideACopy(t *testing.T) {
	t.Parallel()
	k := newCopies(t)
	replace := actiontest.Find(t, fs.Tool(), "replace")
	for _, old := range []string{"HUSH", "'HUSH'))", "see ((" + string(k.secret) + " 'HUSH"} {
		if _, err := k.Do(t, replace, actiontest.Args("path", "/Open/Copies", "edit", content.Edit{Old: old, New: "x"})); err == nil || !strings.Contains(err.Error(), "does not occur") {
			t.Errorf("%q: %v", old, err)
		}
	}
	k.Must(t, replace, actiontest.Args("path", "/Open/Copies", "edit", content.Edit{Old: "see ((" + string(k.secret) + " '')) and", New: "look ((" + string(k.direct) + " 'x')) and"}))
	k.Must(t, replace, actiontest.Args("path", "/Open/Copies", "edit", content.Edit{Old: " end", New: " the end"}))
	got, err := k.Client.Kramdown(t.Context(), k.direct)
	if want := "**((" + string(k.secretDoc) + " 'HUSH'))** the end"; err != nil || !strings.Contains(content.Clean(got), want) || strings.Contains(got, "see ((") {
		t.Errorf("%q, want %q in it; %v", got, want, err)
	}
}

// TestStateTellsNothingOfCopies: hashes do not cover copies, or they would allow guessing what those say.
func TestStateTellsNothingOfCopies(t *testing.T) {
	t.Parallel()
	hash := func(anchor string) string {
		return content.StateHash(content.Saved{ID: "20240101000000-aaaaaaa", Kramdown: "a ((20240101000000-bbbbbbb '" + anchor + "')) b"})
	}
	if hash("one") != hash("other") {
		t.Error("the hash depends on an anchor that follows another block")
	}
}

// TestPlain: plainText (content.Plain), which replaces the kernel's plain text of a block, comes close to it.
func TestPlain(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"## see ((20240101000000-aaaaaaa ''))":                                                          "see",
		"a ((20240101000000-aaaaaaa 'b &lt;c')) **d** ((20240101000000-aaaaaaa \"e\"))":                 "a b <c d e",
		"> quote\n> - [ ] task\n> 1. one":                                                               "quote task one",
		"{{{row\nfirst\n\n{{select * from blocks}}\n\n<div data-type=\"NodeAttributeView\"></div>\n}}}": "first",
		"": "",
	} {
		if got := content.Plain(markdown); got != want {
			t.Errorf("%q: %q, want %q", markdown, got, want)
		}
	}
}

// FuzzRedactor: no hidden anchor of a text gets through, whatever stands around it.
func FuzzRedactor(f *testing.F) {
	for _, seed := range []string{"", "x", "((", "'))", "`", "\n", `<span data-type="block-ref">`, "</span>", "((20240101000000-aaaaaaa \"", "{: id=\"x\"}", "\u200b", "((20240101000000-aaaaaaa 'y"} {
		f.Add(seed, seed)
	}
	redactor := content.Hidden()
	f.Fuzz(func(t *testing.T, before, after string) {
		const anchor, span = "((20240101000000-aaaaaaa 'HUSHED'))", `<span data-type="block-ref" data-subtype="d" data-id="20240101000000-aaaaaaa">HUSHED</span>`
		if strings.Contains(before+after, "HUSHED") {
			return
		}
		for _, text := range []string{before + anchor + after, before + "\n" + anchor + "\n" + after, before + "\n" + span + after} {
			got := redactor.Text(text)
			if len(got) > len(text) {
				t.Fatalf("%q became %q", text, got)
			}
			_ = content.Plain(text)
			_ = content.WithLinks(text)
		}
		if got := redactor.Text(anchor + "\n" + after); strings.Contains(got, "HUSHED") {
			t.Errorf("%q is shown", got)
		}
	})
}
