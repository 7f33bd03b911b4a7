package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// TestWords searches for words in Chinese and in alphabetic scripts, and checks the hits with their marked texts.
func TestWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // one second for all blocks, because hits are ordered by it
		v := newVault(t)
		v.createDocument("Fruit", "苹果派配方\n\n青苹果\n\n苹\n\nan Apple a day\n\nApple pie, APPLE juice\n\nGrün ÄPFEL\n\nI/O\n\n100% sure_thing\n\nsay \"quoted\" 'x'")
		for query, want := range map[string][]string{
			"苹果":                  {"<mark>苹果</mark>派配方", "青<mark>苹果</mark>"},
			"苹果派":                 {"<mark>苹果派</mark>配方"},
			"苹":                   {"<mark>苹</mark>果派配方", "青<mark>苹</mark>果", "<mark>苹</mark>"},
			"果 派配":                {"苹<mark>果</mark><mark>派配</mark>方", "Fruit"},
			"方":                   {"苹果派配<mark>方</mark>"},
			"配方":                  {"苹果派<mark>配方</mark>"},
			"apple":               {"an <mark>Apple</mark> a day", "<mark>Apple</mark> pie, <mark>APPLE</mark> juice"},
			"ay":                  {"an Apple a d<mark>ay</mark>", "s<mark>ay</mark> &#34;quoted&#34; &#39;x&#39;"},
			"Y":                   {"an Apple a da<mark>y</mark>", "sa<mark>y</mark> &#34;quoted&#34; &#39;x&#39;"},
			"äpfel":               {"Grün <mark>ÄPFEL</mark>"},
			"ä":                   {"Grün <mark>Ä</mark>PFEL"},
			"/O":                  {"I<mark>/O</mark>"},
			"%":                   {"100<mark>%</mark> sure_thing"},
			"0% sur":              {"10<mark>0%</mark> <mark>sur</mark>e_thing", "Fruit"},
			`"quoted`:             {"say <mark>&#34;quoted</mark>&#34; &#39;x&#39;"},
			"apple pie apple PIE": {"<mark>Apple</mark> <mark>pie</mark>, <mark>APPLE</mark> juice", "Fruit"},
			"apple 苹果":            {}, "苹果 橙": {}, "派果": {}, "nothing here": {}, `" OR "`: {}, "*": {}, "'": {"say &#34;quoted&#34; <mark>&#39;</mark>x<mark>&#39;</mark>"},
		} {
			if diff := cmp.Diff(want, v.searchContents(query, nil)); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
	})
}

// TestSameText checks that all words of a query must occur in the same text of a block, such as its name or its content.
func TestSameText(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, blocks := v.createDocument("Doc", "alpha 甲乙\n\nother")
	v.Update(func(tx *workspace.Tx) {
		b := tx.Block(blocks[0])
		b.Attrs["name"], b.Attrs["memo"] = "beta", "gamma delta 丙丁"
	})
	for query, want := range map[string]int{
		"alpha": 1, "beta": 1, "gamma delta": 1, "alpha 甲乙": 1, "gamma 丙丁": 1, "丙丁 de": 1, "丙 丁": 1,
		"alpha beta": 0, "alpha gamma": 0, "甲乙 丙丁": 0, "甲 gamma": 0, "alpha 丙": 0, "beta gamma": 0,
	} {
		if got := v.Ask("/api/search/fullTextSearchBlock", object{"query": query}).Get("matchedBlockCount").Int(); int(got) != want {
			t.Errorf("%s: %d hits, want %d", query, got, want)
		}
	}
}

// TestWordsFindWhatAScanFinds compares the number of hits of random queries with a scan of all texts.
func TestWordsFindWhatAScanFinds(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abAB苹果派水 É")
	word := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteRune(letters[r.IntN(len(letters))])
		}
		return strings.TrimSpace(out.String())
	}
	var texts []string
	for i := range 60 {
		var lines []string
		for range 5 {
			if text := strings.Join(strings.Fields(word(1+r.IntN(30))), " "); text != "" {
				lines = append(lines, text)
			}
		}
		texts = append(texts, lines...)
		v.createDocument(fmt.Sprintf("%d", i), strings.Join(lines, "\n\n"))
	}
	for range 300 {
		var words []string
		for range 1 + r.IntN(3) {
			words = append(words, strings.Fields(word(1+r.IntN(4)))...)
		}
		query := strings.Join(words, " ")
		if query == "" {
			continue
		}
		want := 0
		for _, text := range texts {
			text = strings.ToLower(text)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }) {
				want++
			}
		}
		body := object{"query": query, "types": object{"paragraph": true}}
		if got := v.Ask("/api/search/fullTextSearchBlock", body).Get("matchedBlockCount").Int(); int(got) != want {
			t.Errorf("%q: %d hits, a scan finds %d", query, got, want)
		}
	}
}

func TestOrdersAndPages(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("word %02d\n{: id=\"202401010000%02d-aaaaaaa\" updated=\"202402010000%02d\"}", i, (i*7)%50, (i*11)%50))
	}
	v.createDocument("Doc", strings.Join(lines, "\n\n"))
	ids := func(order, page, size int) (ids []string) {
		found := v.Ask("/api/search/fullTextSearchBlock", object{"query": "word", "orderBy": order, "page": page, "pageSize": size})
		if n, pages := found.Get("matchedBlockCount").Int(), found.Get("pageCount").Int(); n != 50 || int(pages) != (50+size-1)/size {
			t.Errorf("order %d: %d hits on %d pages", order, n, pages)
		}
		for _, b := range found.Get("blocks").Array() {
			ids = append(ids, b.Get("id").String()+" "+b.Get("ial.updated").String()+" "+b.Get("markdown").String())
		}
		return ids
	}
	// The orders are by creation (1, 2), by last change (3, 4) and by content (5, 6); the even ones are descending. key returns the
	// part of what ids returns by which an order sorts: the id, the time or the Markdown.
	key := map[int]func(string) string{
		1: func(s string) string { return s[:22] }, 3: func(s string) string { return s[23:37] }, 5: func(s string) string { return s[38:] },
	}
	for order := 1; order <= 6; order++ {
		all := ids(order, 1, 100)
		by := key[(order-1)/2*2+1]
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, func(a, b string) int {
			if order%2 == 0 {
				a, b = b, a
			}
			return strings.Compare(by(a), by(b))
		})
		if diff := cmp.Diff(sorted, all); len(all) != 50 || diff != "" {
			t.Errorf("order %d: %s", order, diff)
		}
		var paged []string
		for page := 1; page <= 8; page++ {
			paged = append(paged, ids(order, page, 7)...)
		}
		if diff := cmp.Diff(all, paged); diff != "" {
			t.Errorf("order %d by pages: %s", order, diff)
		}
	}
	if got := ids(7, 9999999, 7); len(got) != 0 {
		t.Errorf("a page behind the end holds %d", len(got))
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	var top, below, other string
	v.Update(func(tx *workspace.Tx) {
		box := tx.Notebook(v.box)
		d := tx.AddDocument(box, nil, "Top needle", "", tx.Identify(markup.Parse("# needle head\n\nneedle one\n\n- needle item")))
		c := tx.AddDocument(box, d, "Below", "", tx.Identify(markup.Parse("needle two")))
		top, below = d.Path(), c.Path()
		second := tx.CreateNotebook("Second needle")
		tx.AddDocument(second, nil, "Third", "", tx.Identify(markup.Parse("needle three")))
		other = second.ID
	})
	count := func(more object) int {
		body := object{"query": "needle"}
		maps.Copy(body, more)
		return int(v.Ask("/api/search/fullTextSearchBlock", body).Get("matchedBlockCount").Int())
	}
	tests := []struct {
		more object
		want int
	}{
		{nil, 6},
		{object{"paths": []string{v.box}}, 5},
		{object{"paths": []string{other}}, 1},
		{object{"paths": []string{v.box + top}}, 5},
		{object{"paths": []string{v.box + below}}, 1},
		{object{"paths": []string{other + below}}, 0},
		{object{"paths": []string{other, v.box + below}}, 2},
		{object{"paths": []string{v.box + strings.TrimSuffix(top, ".sy")}}, 1},
		{object{"paths": []string{"'; drop table node; --"}}, 0},
		{object{"types": object{"heading": true}}, 1},
		{object{"types": object{"document": true}}, 1},
		{object{"types": object{"heading": false}}, 0},
		{object{"types": object{"list": true, "listItem": true}}, 2},
	}
	for _, tt := range tests {
		if got := count(tt.more); got != tt.want {
			t.Errorf("%v: %d hits, want %d", tt.more, got, tt.want)
		}
	}
	v.Update(func(tx *workspace.Tx) { tx.Notebook(other).Conf.Closed = true })
	if got := count(nil); got != 5 {
		t.Errorf("with the other notebook closed: %d hits, want 5", got)
	}
	if got := v.Ask("/api/query/sql", object{"stmt": "select content from blocks_fts where blocks_fts match 'three'"}); len(got.Array()) != 0 {
		t.Errorf("SQL sees a closed notebook: %s", got)
	}
	v.Update(func(tx *workspace.Tx) { tx.Notebook(other).Conf.Closed = false })
	if got := count(nil); got != 6 {
		t.Errorf("with the other notebook open again: %d hits, want 6", got)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // one second for all blocks, because hits are ordered by it
		v := newVault(t)
		v.createDocument("Doc", "apple pie\n\napple tart 苹果\n\n苹果酱 jam\n\nNEEDLE-42\n\nNEEDLE-x")
		for _, tt := range []struct {
			query  string
			method int
			want   []string
		}{
			{query: "apple NOT pie", method: 1, want: []string{"<mark>apple</mark> tart 苹果"}},
			{query: "apple AND 苹果", method: 1, want: []string{"<mark>apple</mark> tart <mark>苹果</mark>"}},
			{query: "苹果", method: 1, want: []string{"apple tart <mark>苹果</mark>", "<mark>苹果</mark>酱 jam"}},
			{query: "苹果 NOT apple", method: 1, want: []string{"<mark>苹果</mark>酱 jam"}},
			{query: `"苹" OR pie`, method: 1, want: []string{"apple <mark>pie</mark>", "apple tart <mark>苹</mark>果", "<mark>苹</mark>果酱 jam"}},
			{query: "content : 苹果酱", method: 1, want: []string{"<mark>苹果酱</mark> jam"}},
			{query: "name : apple", method: 1, want: []string{}},
			{query: "橙子 AND apple", method: 1, want: []string{}},
			{query: "apple AND (", method: 1, want: []string{}},
			{query: `"`, method: 1, want: []string{}},
			{query: "select * from blocks where content like '%apple%' order by content", method: 2, want: []string{"apple pie", "apple tart 苹果"}},
			{query: "select content from blocks", method: 2, want: []string{}},
			{query: "select nope from", method: 2, want: []string{}},
			{query: "delete from blocks", method: 2, want: []string{}},
			{query: "select 'x' as id, 'y' as content from blocks", method: 2, want: []string{}},
			{query: `NEEDLE-\d+`, method: 3, want: []string{"<mark>NEEDLE-42</mark>"}},
			{query: `(?i)needle-\w`, method: 3, want: []string{"<mark>NEEDLE-4</mark>2", "<mark>NEEDLE-x</mark>"}},
			{query: `^苹.酱`, method: 3, want: []string{"<mark>苹果酱</mark> jam"}},
			{query: `([`, method: 3, want: []string{}},
			{query: `x*`, method: 3},
		} {
			got := v.searchContents(tt.query, object{"method": tt.method})
			if tt.want == nil {
				continue
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%d %s: %s", tt.method, tt.query, diff)
			}
		}
	})
}

// A replacement in a title gives one that a rename would give too.
func TestFindReplaceInTitles(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	replace := func(id, from, to, want string) {
		t.Helper()
		v.Ask("/api/search/findReplace", object{"k": from, "r": to, "ids": []string{id}, "replaceTypes": object{"docTitle": true}})
		if got := v.Block(id).Attrs["title"]; got != want {
			t.Errorf("%q for %q: the title is %q, want %q", to, from, got, want)
		}
	}
	doc, _ := v.createDocument("Draft", "text")
	replace(doc, "Draft", "2026/08\u200b", "202608")
	replace(doc, "2026", strings.Repeat("x", 511), "202608")
	replace(doc, "202608", "", "Untitled")
	replace(v.box, "Notes", "Names", "Names 笔记") // the page of the notebook
	v.View(func(tx *workspace.Tx) {
		if got := tx.Notebook(v.box).Conf.Name; got != "Names 笔记" {
			t.Errorf("the notebook is %q", got)
		}
	})
}

func TestFindReplace(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	doc, blocks := v.createDocument("Old title", "old **old** text #old#\n\n`old` code")
	v.Ask("/api/search/findReplace", object{"k": "old", "r": "new", "ids": []string{blocks[0], doc, "20990101000000-zzzzzzz"}, "replaceTypes": object{"text": true, "strong": true}})
	if got := v.Block(blocks[0]).Text; got != "new **new** text #old#" {
		t.Errorf("the text is %q", got)
	}
	if got := v.searchContents("new text", nil); len(got) == 0 {
		t.Error("what was replaced is not found")
	}
	v.Ask("/api/search/findReplace", object{"k": "Old", "r": "New", "ids": []string{doc}, "replaceTypes": object{"docTitle": true}})
	if got := v.Block(doc).Attrs["title"]; got != "New title" {
		t.Errorf("the title is %q", got)
	}
	v.Ask("/api/search/findReplace", object{"k": "(ol)d", "r": "$1", "method": 3, "ids": blocks, "replaceTypes": object{"code": true, "tag": true}})
	if got := v.Block(blocks[1]).Text; got != "`ol` code" {
		t.Errorf("the text is %q", got)
	}
	if got := v.searchContents("old", nil); len(got) != 0 {
		t.Errorf("what is gone is still found: %v", got)
	}
}

func TestFindReplaceKeepsMarkup(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	for _, c := range []struct{ text, kinds, from, to, want string }{
		{"| a | b-c |\n| --- | :-: |\n| **x-y** | z - |", "text strong", "-", "+", "|a|b+c|\n| ---------| :---: |\n|**x+y**|z +|"},
		{"| a | b |\n| --- | --- |\n| c | d |", "text", "c", "1|2\n3", "|a|b|\n| ---| ---|\n|1\\|2<br />3|d|"},
		{"| a | b |\n| --- | --- |\n| c | d |", "text", "|", "/", "|a|b|\n| ---| ---|\n|c|d|"},
		{"see <u>u</u> and <sub>sub</sub>", "u sub", "u", "v", "see <u>v</u> and <sub>svb</sub>"},
		{"a <b class=\"ab\">b</b> &amp; amp", "text", "a", "x", "x <b class=\"ab\">b</b> &amp; xmp"},
		{"**$5** and `` ` ``", "strong code", "$5", "6", "**6** and `` ` ``"},
		{"[old](old.md \"old\") ![old](old.png \"old\")", "aTitle imgSrc", "old", "new", "[old](old.md \"new\") ![old](new.png \"old\")"},
		{"[old](old.md \"old\") ![old](old.png \"old\")", "aText imgText imgTitle", "old", "new", "[new](old.md \"old\") ![new](old.png \"new\")"},
		{"x $old$ **old *old***", "inlineMath em", "old", "new", "x $new$ **old *new***"},
		{"((20990101000000-abcdefg 'abc'))", "blockRef", "abc", "d", "((20990101000000-abcdefg 'd'))"},
		{"| Item | Price | Cost |\n| --- | --- | --- |\n| Tea | 10$ | 20$ |\n| 5* | - | 6* |", "text em inlineMath", "Tea", "Chai", "|Item|Price|Cost|\n| ------| -------| ------|\n|Chai|10$|20$|\n|5*|-|6*|"},
		{"| a | b |\n| --- | --- |\n| - | d |", "text", "-", "x", "|a|b|\n| ---| ---|\n|x|d|"},
		{"| a | b |\n| --- | --- |\n| c | d |", "text", "c", "||", "|a|b|\n| ---| ---|\n|\\|\\||d|"},
		{"| a | b |\n| --- | --- |\n| c | d |", "text", "c", "C:\\tmp\\", "|a|b|\n| ---| ---|\n|C:\\tmp\\\\|d|"},
		{"ssh \\<host> and Map\\<String>", "text", "host", "box", "ssh \\<box> and Map\\<String>"},
		{"**[x] old** and *[old] a*", "strong em", "old", "new", "**[x] new** and *[new] a*"},
		{"[**old**](y.md)", "aText", "old", "new", "[**new**](y.md)"},
		{"| a | b |\n| --- | --- |\n| C:\\\\tmp\\\\ | d |", "text", "tmp", "x", "|a|b|\n| -----------| ---|\n|C:\\\\x\\\\|d|"},
		{"((20990101000000-abcdefg))", "blockRef", "2099", "1", "((20990101000000-abcdefg))"},
		{"[see **the** a.md](a.md)", "aHref", "a.md", "b.md", "[see **the** a.md](b.md)"},
		{"a <u>[l](t.md)</u>", "aText", "l", "k", `a <span data-type="u a" data-href="t.md">k</span>`},
		{`a <span data-type="inline-math" data-content="n $ a"></span> n`, "inlineMath", "n", "k<", `a <span data-type="inline-math" data-subtype="math" data-content="k&lt; $ a" contenteditable="false" class="render-node"></span> n`},
		{"<https://old.example/old>", "aText", "old", "new", "[https://new.example/new](https://old.example/old)"},
	} {
		_, blocks := v.createDocument("Doc", c.text)
		types := object{}
		for kind := range strings.FieldsSeq(c.kinds) {
			types[kind] = true
		}
		v.Ask("/api/search/findReplace", object{"k": c.from, "r": c.to, "ids": blocks, "replaceTypes": types})
		if got := v.Block(blocks[0]).Text; got != c.want {
			t.Errorf("%q for %q in %s of\n%s\ngives\n%s\nwant\n%s", c.to, c.from, c.kinds, c.text, got, c.want)
		}
	}
}
