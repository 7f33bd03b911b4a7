package tag

import (
	"strings"
	"testing"
)

// withEdges writes the characters without width that stand at the edges of tags, which are ~ here.
func withEdges(text string) string { return strings.ReplaceAll(text, "~", zeroWidth) }

func TestRetagDOM(t *testing.T) {
	const (
		given = `<div data-node-id="20240101000000-aaaaaaa" data-type="NodeParagraph" parent-heading="x"><div>`
		sent  = `<div data-node-id="20240101000000-aaaaaaa" data-type="NodeParagraph"><div>`
		end   = `</div></div>`
	)
	for _, c := range []struct {
		in, renamed, removed string // the text of a block, and what becomes of it: "" where it stays
	}{
		{in: `<span data-type="code">~old</span> #old# <span data-type="tag">~olden</span>`},
		{in: `<span data-type="tag block-ref" data-subtype="d" data-id="20240101000000-bbbbbbb">~old</span>`},
		{
			`<span data-type="tag block-ref" data-subtype="s">~old</span>`, `<span data-type="tag block-ref" data-subtype="s">~n&amp;w</span>`,
			`<span data-type="block-ref" data-subtype="s">old</span>`,
		},
		{in: `<span data-type="tag">old`},
		{`a <span data-type="tag">~old</span>~ b`, `a <span data-type="tag">~n&amp;w</span>~ b`, `a old b`},
		{`~<span data-type="tag">~old</span>~`, `~<span data-type="tag">~n&amp;w</span>~`, `old`},
		{
			`<span data-type="strong tag">old</span><span data-type="tag">old/a&lt;b</span>`,
			`<span data-type="strong tag">~n&amp;w</span><span data-type="tag">~n&amp;w/a&lt;b</span>`,
			`<span data-type="strong">old</span><span data-type="tag">old/a&lt;b</span>`,
		},
		{
			`<span data-type="tag" style="color: red;">old</span>`, `<span data-type="tag" style="color: red;">~n&amp;w</span>`,
			`<span data-type="text" style="color: red;">old</span>`,
		},
		{`<span data-type="tag"><span data-type="virtual-block-ref">old</span></span>`, `<span data-type="tag">~n&amp;w</span>`, `old`},
	} {
		for _, way := range []struct {
			change relabel
			want   string
		}{{renameLabel("old", "n&w"), c.renamed}, {removeLabel("old"), c.removed}} {
			in, want := withEdges(given+c.in+end), withEdges(sent+way.want+end)
			if way.want == "" {
				want = in
			}
			if got := retagDOM(in, way.change); got != want {
				t.Errorf("of %q\n got %q\nwant %q", in, got, want)
			}
		}
	}
}

func FuzzRetagDOM(f *testing.F) {
	for _, seed := range []string{
		`<div data-node-id="a"><div>a <span data-type="tag">~old</span>~</div></div>`, `<span data-type="tag`, `<span data-type="tag">old/x</span>`,
		`<span data-type="strong tag" style="a>b">old</span>`, `<span><span data-type="virtual-block-ref">old</span></span>`,
	} {
		f.Add(withEdges(seed), "old")
	}
	f.Fuzz(func(t *testing.T, dom, label string) {
		if got := retagDOM(dom, func(have string) string { return have }); got != dom {
			t.Errorf("without a change %q became %q", dom, got)
		}
		if label == "" || strings.HasPrefix("new", label) || strings.Contains(dom, "virtual-block-ref") {
			return
		}
		once := retagDOM(dom, renameLabel(label, "new"))
		if twice := retagDOM(once, renameLabel(label, "new")); twice != once {
			t.Errorf("%q became %q, and then %q", dom, once, twice)
		}
		retagDOM(dom, removeLabel(label))
	})
}
