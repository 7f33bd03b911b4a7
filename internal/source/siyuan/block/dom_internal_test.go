package block

import (
	"strings"
	"testing"
	"unicode/utf8"

	"collie/internal/source/siyuan/kernel"
)

func FuzzCutDOM(f *testing.F) {
	const one = `<div data-node-id="20240101000000-aaaaaaa" data-type="NodeParagraph"><div>文字</div></div>`
	f.Add(one+one, 100)
	f.Add(`<div data-node-id="20240101000000-aaaaaaa">`+one+one+`</div>`, 150)
	f.Add(strings.Repeat("字", 90), 100)
	f.Add(one, 3)
	f.Fuzz(func(t *testing.T, dom string, limit int) {
		if limit < 1 || limit > 1<<16 {
			t.Skip("no caller asks for such a limit")
		}
		got := cutDOM(dom, limit)
		if len(got) > limit {
			t.Fatalf("%d bytes of at most %d", len(got), limit)
		}
		if len(dom) <= limit && got != dom {
			t.Fatalf("a short DOM was changed: %q", got)
		}
		if utf8.ValidString(dom) && !utf8.ValidString(got) {
			t.Fatalf("cut within a character: %q", got)
		}
	})
}

func TestWithNewIDs(t *testing.T) {
	t.Parallel()
	const old, kept = "20240101000000-aaaaaaa", "20240101000000-bbbbbbb"
	keep := map[kernel.ID]bool{kept: true}
	markdown := "- {: id=\"" + old + "\" memo=\"m\"}a\n  {: updated=\"1\" id=\"" + kept + "\"}\n\nid=\"" + old + "\" ((" + old + " 'x'))"
	got := withNewIDs(dataMarkdown, markdown, keep)
	if strings.Count(got, old) != 2 || strings.Count(got, kept) != 1 || !strings.Contains(got, `memo="m"`) {
		t.Errorf("only ids in attribute lists become new: %s", got)
	}
	dom := `<div data-node-id="` + old + `"><div data-node-id="` + kept + `">` + old + `</div></div>`
	got = withNewIDs(dataDOM, dom, keep)
	if blocks := kernel.ParseDOM(got); strings.Count(got, old) != 1 || len(blocks) != 1 || len(blocks[0].Blocks) != 1 || blocks[0].ID == old {
		t.Errorf("DOM: %s", got)
	}
}

func TestListItems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                               0,
		"text\n- a":                      0,
		"- a":                            1,
		"\n- a\n- b":                     2,
		"* a\n  - b\n  - c":              1,
		"1. a\n2. b\n3) c":               3,
		"  - a\n  - b\n- c":              3,
		"- a\n  ```\n- no item\n  ```\n": 1,
		"- [ ] 任务\n- [x] 二":              2,
		"-no":                            0,
	} {
		if got := countItems(text); got != want {
			t.Errorf("%q: %d items, want %d", text, got, want)
		}
	}
}

// The kernel takes an id in whatever spelling HTML allows; one that is not to be kept must not reach it.
func TestIDsOfADOMInEverySpelling(t *testing.T) {
	t.Parallel()
	const id = "20240801120000-aaaaaaa"
	for _, spelt := range []string{
		`data-node-id="` + id + `"`, `data-node-id='` + id + `'`, `data-node-id=` + id, `DATA-Node-ID="` + id + `"`,
		"data-node-id \n=\t'" + id + `'`, `data-node-id="2024&#48;801120000-aaaaaaa"`, `data-node-id="` + id + `" data-node-id='` + id + `'`,
	} {
		for _, before := range []string{`<div `, "<div\n", `<div/`, `<div class="p"`} {
			dom := before + spelt + ` data-type="NodeParagraph">text</div>`
			got := withNewIDs(dataDOM, dom, nil)
			if strings.Contains(got, id) || strings.Contains(got, "&#48;") || !strings.Contains(got, ` data-type="NodeParagraph">text</div>`) {
				t.Errorf("%s\nbecomes %s", dom, got)
			}
			kept := withNewIDs(dataDOM, dom, map[kernel.ID]bool{id: true})
			if !strings.Contains(spelt, "&") && !strings.Contains(kept, `data-node-id="`+id+`"`) {
				t.Errorf("%s\nloses the id that is to be kept: %s", dom, kept)
			}
		}
	}
}
