package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// TestObsidian imports a page with each construct of Obsidian and compares the document that it becomes. In results, <text> stands
// for the id of the block with that text.
func TestObsidian(t *testing.T) {
	t.Parallel()
	target := "# Top\n\n## Part One *二*\n\ntext ^b1\n\n- item ^i1\n- [ ] task ^t1\n\n| a |\n|---|\n| b |\n\n^tab\n"
	for _, c := range []struct{ name, text, want string }{
		{"page", "to [[Target]]", `to ((<Target> 'Target'))`},
		{"page with text", "to [[Target|the page]]", `to ((<Target> "the page"))`},
		{"heading", "to [[Target#Part One 二]]", `to ((<Part One 二> 'Part One 二'))`},
		{"heading path", "to [[Target#Top#Part One 二|x]]", `to ((<Part One 二> "x"))`},
		{"heading here", "# Here\n\nto [[#Here]]", "# Here\n\nto ((<Here> 'Here'))"},
		{"block", "to [[Target#^b1]]", `to ((<text> 'text'))`},
		{"item", "to [[Target#^i1]]", `to ((<item> 'item'))`},
		{"task", "to [[Target#^t1]]", `to ((<task> 'task'))`},
		{"table", "to [[Target#^tab|table]]", `to ((<a b> "table"))`},
		{"alias", "to [[Ziel 目标]]", `to ((<Target> 'Target'))`},
		{"path", "to [[sub/Other]] [[sub/Other.md|o]]", `to ((<Other> 'Other')) ((<Other> "o"))`},
		{"missing", "to [[Nowhere]]", `to [[Nowhere]]`},
		{"in a table", "| a |\n|---|\n| [[Target\\|x]] |", "|a|\n| --------------------------------|\n|((<Target> \"x\"))|"},
		{"embedded page", "before\n![[Target]]\nafter", "before\n\n{{select * from blocks where id='<Target>'}}\n\nafter"},
		{"embedded heading", "![[Target#Top]]", "{{select * from blocks where id='<Top>'}}"},
		{"embedded within text", "see ![[Target]] here", `see ((<Target> 'Target')) here`},
		{"image", "![[图 one.png]]", `![图 one](assets/图 one-ID.png)`},
		{"image with width", "![[图 one.png|200]]", `![图 one](assets/图 one-ID.png){: style="width: 200px;"}`},
		{"image with text", "![[sub/图 one.png|a cat|100x50]]", `![a cat](assets/图 one-ID.png){: style="width: 100px;"}`},
		{"attachment", "![[paper.pdf#page=3]]", `[paper.pdf](assets/paper-ID.pdf?page=3)`},
		{"callout", "> [!note] A title\n> text", "> [!NOTE] A title\n> text"},
		{"folded callout", "> [!warning]- Closed\n> text [[Target]]", "> [!WARNING] Closed\n> text ((<Target> 'Target'))"},
		{"callout of a title", "> [!tip] Only this", "> [!TIP] Only this\n"},
		{"comment", "a %%hidden [[x]]%% b", "a <!--hidden [[x]]--> b"},
		{"comment of lines", "a\n\n%%\nhidden\n\nmore\n%%\n\nb", "a\n\n<!-- hidden\nmore -->\n\nb"},
		{"mark", "==mark==", "==mark=="},
		{"anchor behind blank lines", "to [[#^x|t]]\n\nabove\n\n\n\n\n^x", "to ((<above> \"t\"))\n\nabove"},
		{"anchor of nothing", "\n\n^x", "^x"},
		{"tags", "#one #a/b #中文/标签, (#x) C# #12 #2024y", "#one# #a/b# #中文/标签#, (#x#) C\\# \\#12 #2024y#"},
		{"tag that is closed", "#own tag# and", "#own# tag\\# and"},
		{"code", "`[[Target]] #x` and\n\n```\n[[Target]] #x\n```", "`[[Target]] #x` and\n\n```\n[[Target]] #x\n```"},
		{"formula", "$[[1]]$ #x", "$[[1]]$ #x#"},
		{"link", "[x](sub/Other.md) [y](/sub/Other.md#Deep%20One) [z](<sub/Other.md>)", `((<Other> "x")) ((<Deep One> "y")) ((<Other> "z"))`},
		{"link that slugs", "[y](sub/Other.md#deep-one)", `((<Deep One> "y"))`},
		{"link of its title", "[Other](sub/Other.md)", `((<Other> 'Other'))`},
		{"link with an image", "[![a](sub/图%20one.png)](sub/Other.md)", `[![a](assets/图 one-ID.png)](siyuan://blocks/<Other>)`},
		{"link to nothing", "[x](gone.md)", `[x](gone.md)`},
		{"web link", "[x](https://a.b/c.md)", `[x](https://a.b/c.md)`},
		{"image by path", "![a](sub/图%20one.png \"T\")", `![a](assets/图 one-ID.png "T")`},
		{"html image", "<p><img src=\"sub/图 one.png\"></p>", `<p>![](assets/图 one-ID.png)</p>`},
		{"headings underlined", "One\n===\n\nTwo\n---", "# One\n\n## Two"},
		{"indented code", "a\n\n    x := 1\n\nb", "a\n\n```\nx := 1\n```\n\nb"},
		{"links by name", "[x][1] and [two]\n\n[1]: https://a.b \"T\"\n[two]: sub/Other.md", `[x](https://a.b "T") and ((<Other> "two"))`},
		{"link over lines", "See [the\npart](Target.md#part-one-二) here.", `See ((<Part One 二> "the part")) here.`},
		{"link over lines that leads nowhere", "See [the\npart](gone.md) here.", "See [the\npart](gone.md) here."},
		{"wiki link over lines", "See [[Target|the\npage]].", `See ((<Target> "the page")).`},
		{"image over lines", "![a\ncat](sub/图%20one.png)", "![a\ncat](assets/图 one-ID.png)"},
		{"link by name over lines", "See [the\npart][t].\n\n[t]: Target.md", `See ((<Target> "the part")).`},
		{"html image over lines", "<img alt=\"a\ncat\"\nsrc=\"sub/图 one.png\" class=\"c\"\nstyle=\"width: 50%;\" />", `![a cat](assets/图 one-ID.png){: style="width: 50%;"}`},
		{"html image in a block", "<div>\n<img src=\"sub/图 one.png\" class=\"c\">\n</div>", "<div>\n<img src=\"assets/图 one-ID.png\" class=\"c\">\n</div>"},
		{"comment around code", "a\n\n%%\n## D\n```json\n{}\n```\n%%\n\nb", "a\n\n%%\n\n## D\n\n```json\n{}\n```\n\n%%\n\nb"},
		{"comment around an end", "a\n\n%% todo --> later\nhidden\n%%\n\nb", "a\n\n%% todo --> later\nhidden\n%%\n\nb"},
		{"comment without an end", "%%\na\n\nb", "%%\na\n\nb"},
		{"footnotes", "A[^1] B[^2]\n\n[^1]: one\n\n    more\n\n[^2]: two", "A[^1] B[^2]\n\n[^1]: one\n\n    more\n\n[^2]: two"},
		{"single marks", "2^10 2^20 3~5 6~7 :heart:", "2^10 2^20 3~5 6~7 :heart:"},
		{"code in a list", "- a\n\n      *x*", "- a\n\n  ```\n  *x*\n  ```"},
		{"code far from the margin", "tab\n\n    ```py t=\"x\"\n    if x:\n        y\n    ```", "tab\n\n```py t=\"x\"\nif x:\n    y\n```"},
		{"formula in a text", "$$a$$ is\n\n$$ b\n\nc", "$$a$$ is\n\n$$ b\n\nc"},
		{"attributes", "p\n{: custom-a=\"1\"}", "p\n{: custom-a=\"1\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			importAndCompare(t, files{
				".obsidian/app.json": "{}", ".obsidian/x.md": "no", ".trash/y.md": "no",
				"Page.md": c.text, "Target.md": "---\naliases: [Ziel 目标]\n---\n" + target, "sub/Other.md": "# Deep One\n\nback to [[Page]]",
				"sub/图 one.png": "PNG", "files/paper.pdf": "PDF",
			}, "Page", c.want)
		})
	}
}

// TestPlaces checks which documents an import makes of folders and files, and where they lie.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	r := importFolder(t, w, files{
		"A.md": "a", "A/child.md": "c", "B/B.md": "b", "B/child.markdown": "c", "C/deep/x.md": "x",
		"1/2/3/4/5/6/7/8/9.md": "deep", "empty/picture.png": "p", "case.md": "lower", "Case.MD": "upper",
		"中文/笔记 📓.md": "好", ".hidden/x.md": "no", ".hidden.md": "no",
	}.write(t), folder.ImportOptions{Notebook: "N"})
	var got []string
	for name := range markdownByPath(t, w) {
		got = append(got, name)
	}
	slices.Sort(got)
	want := []string{
		"N/1", "N/1/2", "N/1/2/3", "N/1/2/3/4", "N/1/2/3/4/5", "N/1/2/3/4/5/6", "N/1/2/3/4/5/6/7", "N/1/2/3/4/5/6/8", "N/1/2/3/4/5/6/9",
		"N/A", "N/A/child", "N/B", "N/B/child", "N/C", "N/C/deep", "N/C/deep/x", "N/Case", "N/case", "N/中文", "N/中文/笔记 📓",
	}
	if !slices.Equal(got, want) {
		t.Errorf("documents\n%q\nwant\n%q", got, want)
	}
	found := strings.Join(problemLines(r), "\n")
	for _, want := range []string{"too-deep 1/2/3/4/5/6/7/8/9.md", "not-linked empty/picture.png"} {
		if !strings.Contains(found, want) {
			t.Errorf("no problem %q in\n%s", want, found)
		}
	}
}

// TestTimesOfFrontMatter checks that a time in front matter also becomes a custom attribute, as it was written, when a stamp
// cannot hold all that it says or it cannot be read.
func TestTimesOfFrontMatter(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	importFolder(t, w, files{
		"Millis.md": "---\ncreated: 1641092645006\nupdated: 1651838465238\n---\nx",
		"Zone.md":   "---\ncreated: 2022-01-02T03:04:05.678+09:00\nupdated: 2022-05-06T07:08:09Z\n---\nx",
		"None.md":   "---\ncreated: once\nupdated: a while ago\n---\nx",
		"Plain.md":  "---\ncreated: 2022-01-02 03:04:05\nupdated: 2022-05-06\n---\nx",
	}.write(t), folder.ImportOptions{Notebook: "N"})
	found := documentsByPath(t, w)
	for page, want := range map[string][4]string{
		"Millis": {tree.Stamp(time.UnixMilli(1641092645006)), "1641092645006", tree.Stamp(time.UnixMilli(1651838465238)), "1651838465238"},
		"Zone": {
			tree.Stamp(time.Date(2022, 1, 1, 18, 4, 5, 0, time.UTC).Local()), "2022-01-02T03:04:05.678+09:00",
			tree.Stamp(time.Date(2022, 5, 6, 7, 8, 9, 0, time.UTC).Local()), "2022-05-06T07:08:09Z",
		},
		"None":  {"", "once", "", "a while ago"},
		"Plain": {"20220102030405", "", "20220506000000", ""},
	} {
		a := found["N/"+page].Root.Attrs
		got := [4]string{a["id"][:14], a["custom-created"], a["updated"], a["custom-updated"]}
		if want[0] == "" { // the time of the file
			got[0], got[2] = "", ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	importFolder(t, w, files{"Note.md": "---\nid: 20240102030405-abcdefg\ntitle: \"A: title\"\ntags: [one, 二/三]\naliases: [x, y]\n" +
		"created: 2020-01-01\nupdated: 2024-05-06 07:08:09\nauthor: Me\n作者: 鲁迅\nlist: [a, b]\nmap: {k: v}\ndone: true\nempty:\ndate: 2019-01-01\nnested: {n: 1, t: true}\ntemplate: {{x}}\n---\ntext"}.write(t),
		folder.ImportOptions{Notebook: "N"})
	d := documentsByPath(t, w)["N/A: title"]
	if d == nil {
		t.Fatalf("the document is not there: %v", documentsByPath(t, w))
	}
	for name, want := range map[string]string{
		"id": "20240102030405-abcdefg", "tags": "one,二/三", "alias": "x,y", "updated": "20240506070809", "custom-author": "Me",
		"custom-list": "a, b", "custom-map": `{"k":"v"}`, "custom-done": "true", "custom-properties": `{"作者":"鲁迅"}`, "custom-empty": "",
		"custom-date": "2019-01-01", "custom-nested": `{"n":1,"t":true}`, "custom-template": "{{x}}",
	} {
		if got := d.Root.Attrs[name]; got != want {
			t.Errorf("attribute %s is %q, want %q", name, got, want)
		}
	}
}

// TestPlainLinkInTable writes a table, in a cell of which a link leads to another document, for Obsidian. There a bar inside a
// cell would begin the next one, so the bar between target and label of the wiki link must be escaped.
func TestPlainLinkInTable(t *testing.T) {
	t.Parallel()
	w, dir := newVault(t), t.TempDir()
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.CreateNotebook("notes")
		target := tx.AddDocument(box, nil, "Target", "", nil)
		link := "[the page](siyuan://blocks/" + target.ID() + ")"
		tx.AddDocument(box, nil, "Page", "", tx.Identify(markup.Parse("see "+link+"\n\n| a | b |\n|---|---|\n| "+link+" | c |")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Sync(t.Context(), w, dir, folder.SyncOptions{Notebook: "notes", Plain: true}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "Page.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"see [[Target|the page]]", `|[[Target\|the page]]|c|`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("there is no %s in\n%s", want, data)
		}
	}
}
