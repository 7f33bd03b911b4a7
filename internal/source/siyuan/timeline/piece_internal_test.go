package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestPiecesOfARecordedDocument: a document with every kind of block, as a real kernel showed it.
func TestPiecesOfARecordedDocument(t *testing.T) {
	t.Parallel()
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario != "blocks_rich" || row.Endpoint() != "/api/filetree/getDoc" {
			continue
		}
		dom := gjson.GetBytes(row.RespBody, "data.content").Str
		pieces := parseBlocks(dom)
		if len(pieces) != 55 {
			t.Errorf("%d pieces, want 55", len(pieces))
		}
		var texts []string
		for _, p := range pieces {
			texts = append(texts, p.Text)
			if strings.ContainsAny(p.Text, "\u200b\u200d") || strings.Contains(p.Text, "protyle") {
				t.Errorf("%s: %q", p.Type, p.Text)
			}
		}
		for _, want := range []string{"Trip report 出差报告", "First point 第一点", "Deep 深层", "Book the train 订火车票"} {
			if !slices.Contains(texts, want) {
				t.Errorf("no piece has the text %q", want)
			}
		}
		if changes := diffBlocks(pieces, parseBlocks(strings.ReplaceAll(dom, `contenteditable="true"`, `contenteditable="false"`))); len(changes) != 0 {
			t.Errorf("a copy that cannot be edited differs: %v", changes)
		}
		return
	}
	t.Fatal("getDoc was not recorded")
}

// TestRecordedCopy: a recorded copy of a document of one paragraph is parsed.
func TestRecordedCopy(t *testing.T) {
	t.Parallel()
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario == "history_repo" && row.Step == "history content" {
			got := parseBlocks(gjson.GetBytes(row.RespBody, "data.content").Str)
			if len(got) != 1 || got[0].Text != "version one 版本一" || got[0].Type != "NodeParagraph" || !got[0].ID.Valid() {
				t.Errorf("%+v", got)
			}
			return
		}
	}
	t.Fatal("no copy was recorded")
}

func TestTextOf(t *testing.T) {
	t.Parallel()
	const id = `data-node-id="20240101000000-aaaaaaa"`
	for own, want := range map[string]string{
		`<div ` + id + `><div contenteditable="true">a &amp; b<br>c</div><div class="protyle-attr"><div class="protyle-attr--memo">note</div></div></div>`: "a & b\nc",
		`<div ` + id + ` data-content="x &gt; y" data-type="NodeMathBlock"><div></div></div>`:                                                              "x > y",
		`<div ` + id + ` title="a > b"><span data-x='<'>t</span></div>`:                                                                                    "t",
		`<div ` + id + `><table><tr><td>1</td><td>2</td></tr></table></div>`:                                                                               "1\n2",
		`<div ` + id + `><div class="protyle-action">1.</div></div>`:                                                                                       "",
		`<div ` + id + `>`: "",
	} {
		if got := parseBlocks(own); len(got) != 1 || got[0].Text != want {
			t.Errorf("%s: %+v, want %q", own, got, want)
		}
	}
}

// TestDiffProperties: nothing differs from itself, each block is named once, and the number of blocks changes by those
// added and removed.
func TestDiffProperties(t *testing.T) {
	t.Parallel()
	version := rapid.Custom(func(rt *rapid.T) []blockState {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 10, rapid.ID[int]).Draw(rt, "ids")
		var out []blockState
		for _, id := range ids {
			out = append(out, blockState{ID: kernel.ID(fmt.Sprintf("20240101000000-%07d", id)), Text: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "text")})
		}
		return out
	})
	rapid.Check(t, func(rt *rapid.T) {
		before, after := version.Draw(rt, "before"), version.Draw(rt, "after")
		if d := diffBlocks(before, before); len(d) != 0 {
			rt.Fatalf("%v", d)
		}
		d := diffBlocks(before, after)
		seen := map[kernel.ID]bool{}
		for _, c := range d {
			if seen[c.ID] {
				rt.Fatalf("%s is named twice", c.ID)
			}
			seen[c.ID] = true
		}
		if same := cmp.Equal(before, after, cmp.AllowUnexported(blockState{})) || len(before)+len(after) == 0; same != (len(d) == 0) {
			rt.Fatalf("same %t, changes %v", same, d)
		}
		n := countByKind(d)
		if len(before)+n[added]-n[removed] != len(after) {
			rt.Fatalf("%d blocks and %v are no %d", len(before), n, len(after))
		}
	})
}

func TestDiffMovesAsFewAsPossible(t *testing.T) {
	t.Parallel()
	of := func(letters string) (out []blockState) {
		for _, l := range letters {
			out = append(out, blockState{ID: kernel.ID(l), Text: string(l)})
		}
		return out
	}
	for _, tt := range []struct{ before, after, moved string }{
		{before: "abcde", after: "eabcd", moved: "e"}, {before: "abcde", after: "bcdea", moved: "a"}, {before: "abcde", after: "abdce", moved: "c"}, {before: "abc", after: "cba", moved: "ba"}, {before: "abcde", after: "abxcde"}, {before: "abcde", after: "ace"},
	} {
		got := ""
		for _, c := range diffBlocks(of(tt.before), of(tt.after)) {
			if c.Kind == moved {
				got += string(c.ID)
			}
		}
		if len(got) != len(tt.moved) || len(tt.moved) == 1 && got != tt.moved && !(tt.moved == "c" && got == "d") {
			t.Errorf("%s to %s: %q was moved, want %q", tt.before, tt.after, got, tt.moved)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add(`<div data-node-id="20240101000000-aaaaaaa" data-type="NodeList"><div data-node-id="20240101000000-bbbbbbb">x</div></div>`)
	f.Add(`<div data-node-id="20240101000000-aaaaaaa" data-content="<`)
	f.Fuzz(func(t *testing.T, dom string) {
		pieces := parseBlocks(dom)
		if d := diffBlocks(pieces, pieces); len(d) != 0 && !hasIDTwice(pieces) {
			t.Errorf("%q differs from itself: %v", dom, d)
		}
		if _, err := json.Marshal(diffBlocks(nil, pieces)); err != nil {
			t.Error(err)
		}
	})
}

// hasIDTwice reports whether two of the blocks have one id.
func hasIDTwice(pieces []blockState) bool {
	seen := map[kernel.ID]bool{}
	for _, p := range pieces {
		if seen[p.ID] {
			return true
		}
		seen[p.ID] = true
	}
	return false
}

func FuzzParseTag(f *testing.F) {
	f.Add("sisyphustimeline_global_20260102030405_before 之前")
	f.Add("sisyphustimeline_20240101000000-aaaaaaa_20260102030405_a_b")
	f.Add("v1.0")
	f.Fuzz(func(t *testing.T, tag string) {
		n, ok := parseTag(tag)
		if !ok {
			return
		}
		if n.Name == "" || (n.Document != "") != (n.Scope == document) || !strings.HasSuffix(tag, "_"+n.at+"_"+n.Name) {
			t.Errorf("%q: %+v", tag, n)
		}
	})
}

// TestPiecesOfSiYuan: what a kernel renders differently in a document and in a copy of it is not a change.
func TestPiecesOfSiYuan(t *testing.T) {
	t.Parallel()
	block := func(attrs, inner string) string {
		return `<div data-node-id="20240101000000-aaaaaaa" data-type="NodeParagraph" class="p" ` + attrs + `>` + inner + `<div class="protyle-attr" contenteditable="false"></div></div>`
	}
	code := func(language, text string) string {
		return block("", `<div class="protyle-action"><span class="protyle-action--first protyle-action__language" contenteditable="false">`+language+
			`</span><span class="fn__flex-1"></span></div><div class="hljs"><div></div><div contenteditable="true">`+text+`</div></div>`)
	}
	ref := func(subtype, anchor string) string {
		return block("", `<div>see <span data-type="block-ref" data-subtype="`+subtype+`" data-id="20240101000000-bbbbbbb">`+anchor+`</span></div>`)
	}
	for _, c := range []struct {
		name, before, after string
		same                bool
	}{
		{name: "attributes in another order", before: block(`memo="m" custom-a="1"`, "x"), after: block(`custom-a="1" memo="m"`, "x"), same: true},
		{name: "another attribute", before: block(`custom-a="1"`, "x"), after: block(`custom-a="2"`, "x")},
		{name: "folded", before: block(`fold="1" heading-fold="1"`, "x"), after: block("", "x"), same: true},
		{name: "code", before: code("go", "a"), after: code("go", "b")},
		{name: "language", before: code("go", "a"), after: code("js", "a")},
		{name: "an anchor that follows", before: ref("d", "old"), after: ref("d", "new"), same: true},
		{name: "an anchor that stays", before: ref("s", "old"), after: ref("s", "new")},
		{name: "layout", before: block(`data-sb-layout="row"`, "x"), after: block(`data-sb-layout="col"`, "x")},
	} {
		if d := diffBlocks(parseBlocks(c.before), parseBlocks(c.after)); (len(d) == 0) != c.same {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	if got := parseBlocks(code("go", "a &lt; b"))[0].Text; got != "a < b" {
		t.Errorf("code is %q", got)
	}
}
