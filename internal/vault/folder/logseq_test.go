package folder_test

import (
	"strings"
	"testing"

	"collie/internal/vault/folder"
)

// TestLogseq imports a page with each construct of Logseq and compares the document that it becomes. In results, <text> stands for
// the id of the block with that text.
func TestLogseq(t *testing.T) {
	t.Parallel()
	const uuid = "65a1b2c3-0000-4000-8000-00000000abcd"
	other := "title:: Other Page\ntags:: one, [[two words]]\ntype:: book\n\n- first\n  id:: " + uuid + "\n  rating:: 5\n- second\n"
	for _, c := range []struct{ name, text, want string }{
		{"outline", "- a\n\t- b\n\t\t- c\n- d", "- a\n\n  - b\n\n    - c\n- d"},
		{"tasks", "- TODO a\n- DONE b\n- DOING c\n- CANCELED d\n- TODOx", "- [ ] a\n- [X] b\n- [ ] c\n- [-] d\n\n- TODOx"},
		{"properties", "- a\n  key:: value\n  Other_Key:: x\n- b", "- {: custom-key=\"value\" custom-other-key=\"x\"}a\n- b"},
		{"collapsed", "- a\n  collapsed:: true\n\t- b", "- {: fold=\"1\"}a\n\n  - b"},
		{"reference", "- see ((" + uuid + "))", `- see ((<first> 'first'))`},
		{"reference to nothing", "- see ((65a1b2c3-0000-4000-8000-000000000000))", "- see ((65a1b2c3-0000-4000-8000-000000000000))"},
		{"embedded block", "- {{embed ((" + uuid + "))}}", "- {{select * from blocks where id='<first>'}}"},
		{"embedded page", "- {{embed [[Other Page]]}}", "- {{select * from blocks where id='<Other Page>'}}"},
		{"query", "- {{query (task TODO)}}", "- `{{query (task TODO)}}`"},
		{"page", "- [[other page]] #tag #[[two words]]", `- ((<Other Page> 'Other Page')) #tag# #two words#`},
		{"day", "- [[Jan 31st, 2024]] [[2024-01-31]]", `- ((<2024-01-31> '2024-01-31')) ((<2024-01-31> '2024-01-31'))`},
		{"asset", "- ![x](../assets/a.png)", `- ![x](assets/a-ID.png)`},
		{"namespace", "- [[a/b]]", `- ((<b> 'b'))`},
		{"code", "- ```\n  key:: value\n  TODO\n  ```", "- ```\n  key:: value\n  TODO\n  ```"},
		{"link to a heading", "- ## H #tag\n  key:: v\n- [[#H #tag]]", "- {: custom-key=\"v\"}## H #tag#\n- ((<H #tag#> 'H #tag'))"},
		{"empty with properties", "- a\n-\n  key:: v\n  - b", "- a\n- {: custom-key=\"v\"}\n\n  - b"},
		{"labelled reference", "- [x](((" + uuid + ")))", `- ((<first> "x"))`},
		{"labelled page", "- [x]([[Other Page]])", `- ((<Other Page> "x"))`},
		{"labelled reference to nothing", "- [x](((65a1b2c3-0000-4000-8000-000000000000)))", "- [x](((65a1b2c3-0000-4000-8000-000000000000)))"},
		{"labelled page that is not there", "- [x]([[Nowhere]])", "- [x]([[Nowhere]])"},
		{"number in a bullet", "- 5. a\n  key:: v\n- - b", "- {: custom-key=\"v\"}5\\. a\n- \\- b"},
		{"example", "- #+BEGIN_EXAMPLE\n  a\n    b\n  #+END_EXAMPLE", "- ```\n  a\n    b\n  ```"},
		{"tabs before code", "## H\n\t- a\n\t  ```\n\t  x\n\t  \ty\n\t  ```", "## H\n\n- a\n\n  ```\n  x\n  \ty\n  ```"},
		{"name twice", "- a\n  due_date:: 1\n  due-date:: 2", "- {: custom-due-date=\"1\"}a\n  due-date:: 2"},
		{"name in the bullet and below", "- x\n- Status:: a\n  status:: b", "- x\n- {: custom-status=\"b\"}Status:: a"},
		{"value twice", "- a\n  due_date:: 1\n  due-date:: 1", "- {: custom-due-date=\"1\"}a"},
		{"heading", "- ## H\n  key:: v", "- {: custom-key=\"v\"}## H"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			importAndCompare(t, files{
				"logseq/config.edn": "{}", "logseq/bak/pages/x.md": "- no", "pages/Page.md": c.text, "pages/Other.md": other,
				"pages/a___b.md": "- in a namespace", "journals/2024_01_31.md": "- today", "assets/a.png": "PNG",
			}, "Page", c.want)
		})
	}
}

func TestLogseqPages(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	importFolder(t, w, files{
		"journals/2024_01_31.md": "- today 今天", "pages/Book.md": "title:: The Book\ntags:: one, two words\nalias:: b1, b2\ntype:: novel\n\n- text",
		"pages/a%2Fb.md": "- x",
	}.write(t), folder.ImportOptions{Notebook: "N"})
	docs := documentsByPath(t, w)
	day := docs["N/daily note/2024/01/2024-01-31"]
	if day == nil || day.Root.Attrs["custom-dailynote-20240131"] != "20240131" {
		t.Errorf("the note of the day is %v", day)
	}
	book := docs["N/The Book"]
	if book == nil {
		t.Fatalf("there is no book: %v", docs)
	}
	for name, want := range map[string]string{"tags": "one,two words", "alias": "b1,b2", "custom-type": "novel"} {
		if got := book.Root.Attrs[name]; got != want {
			t.Errorf("attribute %s is %q, want %q", name, got, want)
		}
	}
	if docs["N/a/b"] == nil {
		t.Errorf("the namespace is lost: %v", docs)
	}
	if text := shownDocuments(t, w)["N/The Book"]; strings.Contains(text, "::") {
		t.Errorf("properties are left: %s", text)
	}
}
