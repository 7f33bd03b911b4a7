package folder_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/folder"
	"collie/test/await"
)

// generator makes a folder of notes that use every construct. The same seed gives the same folder.
type generator struct {
	*rand.Rand
	names []string // paths without extension
	out   files
}

var (
	englishWords = strings.Fields("plan meeting river notes about the harbour and its cranes budget for spring travel summary of open points")
	chineseWords = strings.Fields("会议 记录 项目 计划 关于 港口 预算 春天 旅行 总结 待办 事项 读书 笔记 数据库 想法")
)

// words returns n random words.
func (g *generator) words(n int, chinese bool) string {
	from, between := englishWords, " "
	if chinese {
		from, between = chineseWords, ""
	}
	var parts []string
	for range n {
		parts = append(parts, from[g.IntN(len(from))])
	}
	return strings.Join(parts, between)
}

func (g *generator) id() string {
	return fmt.Sprintf("2024%02d%02d%02d%02d%02d-g%06d", 1+g.IntN(12), 1+g.IntN(28), g.IntN(24), g.IntN(60), g.IntN(60), g.IntN(1000000))
}

// generateFolder returns a folder of n pages and some attachments, with links between them.
func generateFolder(seed uint64, n int) files {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed)), out: files{}}
	dirs := []string{"", "Work/", "工作/", "Work/Deep/Deeper/", "工作/项目 一/", "🚀 emoji/", "Only Folder/nothing here/", "notes.with.dots/"}
	for i := range n {
		dir := dirs[g.IntN(len(dirs))]
		name := fmt.Sprintf("%s %d", strings.Fields(g.words(3, false))[0], i)
		if i%2 == 0 {
			name = fmt.Sprintf("%s%d", g.words(2, true), i)
		}
		switch i % 50 {
		case 7:
			name = fmt.Sprintf("Case %d", i)
			g.names = append(g.names, dir+fmt.Sprintf("case %d", i))
		case 11:
			name = "100% “odd” & 'quoted' [x] #" + fmt.Sprint(i)
		case 13:
			if len(g.names) > 3 { // a child of another page
				dir, name = g.names[len(g.names)-2]+"/", fmt.Sprintf("Child %d", i)
			}
		case 17:
			dir += fmt.Sprintf("Note %d/", i) // the note of its folder
			name = fmt.Sprintf("Note %d", i)
		}
		g.names = append(g.names, dir+name)
	}
	for i := range 20 {
		g.out[fmt.Sprintf("attachments/图片 %d.png", i)] = fmt.Sprintf("\x89PNG %d", i)
		g.out[fmt.Sprintf("Work/img/photo (%d).jpg", i)] = fmt.Sprintf("JPEG %d", i)
	}
	g.out["attachments/paper.pdf"] = "%PDF"
	g.out[".obsidian/app.json"] = "{}"
	for i, name := range g.names {
		g.out[name+".md"] = g.page(i, i%2 == 0)
	}
	return g.out
}

// randomPage returns the base name of a random page, as the target of a link.
func (g *generator) randomPage() string {
	name := g.names[g.IntN(len(g.names))]
	return name[strings.LastIndexByte(name, '/')+1:]
}

// page returns the text of page i.
func (g *generator) page(i int, chinese bool) string {
	var out strings.Builder
	if g.IntN(3) > 0 {
		fmt.Fprintf(&out, "---\n")
		if g.IntN(2) == 0 {
			fmt.Fprintf(&out, "title: %q\n", g.words(2, chinese)+fmt.Sprint(" T", i))
		}
		if g.IntN(3) == 0 {
			fmt.Fprintf(&out, "id: %s\n", g.id())
		}
		fmt.Fprintf(&out, "tags: [%s, a/b, 标签/子]\naliases:\n  - alias %d\n  - 别名%d\n", strings.Fields(g.words(2, false))[0], i, i)
		fmt.Fprintf(&out, "created: 2023-0%d-1%d 08:30\nupdated: 2024-01-02T03:04:05Z\n", 1+g.IntN(9), g.IntN(9))
		fmt.Fprintf(&out, "author: %s\n作者: 鲁迅\nrating: %d\nnested: {a: [1, 2], b: {c: d}}\nempty:\nMy Key: yes\nMy key: \"  spaced \\u00e9 \"\n", g.words(1, chinese), g.IntN(5))
		out.WriteString("---\n")
	}
	for range 4 + g.IntN(10) {
		out.WriteString(g.block(i, chinese) + "\n\n")
	}
	text := out.String()
	switch i % 20 {
	case 3:
		text = "\ufeff" + text
	case 5:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// block returns a random block for page i.
func (g *generator) block(i int, chinese bool) string {
	w := func(n int) string { return g.words(n, chinese) }
	switch g.IntN(32) {
	case 0:
		return "## Heading " + w(2) + "\n\n" + w(5)
	case 1:
		return "# " + w(1) + "\n\n### Same\n\n" + w(3) + "\n\n### Same"
	case 2:
		return w(4) + " ^block-" + fmt.Sprint(i)
	case 3:
		return "See [[" + g.randomPage() + "]] and [[" + g.randomPage() + "|" + w(2) + "]] and [[Missing page " + fmt.Sprint(i) + "]]."
	case 4:
		return "To [[" + g.randomPage() + "#Same]] or [[" + g.randomPage() + "#^block-" + fmt.Sprint(g.IntN(len(g.names))) + "]]"
	case 5:
		return fmt.Sprintf("![[图片 %d.png]] and ![[photo (%d).jpg|300]] and ![alt](</attachments/图片 %d.png> \"a title\")", g.IntN(20), g.IntN(20), g.IntN(20))
	case 6:
		return "![[" + g.randomPage() + "]]"
	case 7:
		return "- " + w(2) + "\n  - " + w(2) + "\n    - [ ] " + w(1) + " ^item-" + fmt.Sprint(i) + "\n- [x] " + w(2) + "\n\n1. one\n2. two\n   - mixed"
	case 8:
		return "> [!note]- " + w(2) + "\n> " + w(3) + "\n> > [!tip]\n> > nested " + w(1)
	case 9:
		return "> " + w(3) + "\n>\n> - in quote\n\n> another quote"
	case 10:
		return "| a | b |\n|:--|---:|\n| [[" + g.randomPage() + "\\|x]] | `a\\|b` |\n| " + w(1) + " | #tag |"
	case 11:
		return "```go\nfunc main() { // [[not a link]] #nottag ![[x]] %%\n}\n```"
	case 12:
		return "$$\n\\sum_{i=1}^n [[1]]\n$$\n\nInline $a_[[b]]$ and `[[code]]` and 5$ and 6$"
	case 13:
		return "Tags #work #a/b #中文/标签 #2024 #y2024 and C# and #own# end"
	case 14:
		return "A %%hidden%% comment\n\n%%\nlong\n\ncomment\n%%"
	case 15:
		return "==marked== **bold *nested*** ~~gone~~ H~2~O x^2^ <u>under</u> <kbd>K</kbd> a\\*b"
	case 16:
		return "[rel](" + strings.ReplaceAll(g.randomPage(), " ", "%20") + ".md) [web](https://example.com/a_(b)?c=d#e) [mail](mailto:a@b.c) <https://auto.link>"
	case 17:
		return "[up](../" + strings.ReplaceAll(g.randomPage(), " ", "%20") + ".md#same) [out](../../../../../../etc/passwd) [pdf](/attachments/paper.pdf)"
	case 18:
		return "Title under\n===========\n\nSub under\n---------\n\n" + w(2)
	case 19:
		return "para\n\n    indented code\n      more\n\n---\n\n***"
	case 20:
		return "para " + w(1) + "\n{: id=\"" + g.id() + "\" custom-note=\"" + w(1) + " &quot;x&quot;\" memo=\"m\"}"
	case 21:
		return "<div>\n<img src=\"/attachments/图片 1.png\" width=\"10\">\n</div>"
	case 22:
		return "text [ref][one] and [two][]\n\n[one]: https://example.com/one \"One\"\n[two]: https://example.com/two"
	case 23:
		return "- a\n\ntext\n\n- b\n\n* c\n\n+ d"
	case 24:
		return "line one\nline two  \nline three\\\nline four"
	case 25:
		return "{{{row\nleft\n\nright\n\n}}}"
	case 26:
		return "![[paper.pdf#page=3]] ![missing](nope.png) ![[missing.png]]"
	case 27:
		return "- \n- [ ] \n-\n\n  para in item\n- # heading in item\n- ```\n  code in item\n  ```"
	case 28:
		return "~~~\ntilde ``` fence\n~~~\n\n````md\n```\ninner\n```\n````"
	case 29:
		return "> [!custom]\n> body [[" + g.randomPage() + "]]\n\n> [!warning] Only a title"
	case 30:
		return "emoji 🚀👩‍👩‍👧 and ‘quotes’ — dash… " + w(2) + " :smile: &amp; &copy; <b>html</b>"
	}
	return w(10) + " " + w(3)
}

// TestRoundTrip imports a generated folder, exports it, and imports and exports the result. Both exports must be equal.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	source := generateFolder(1, await.Fewer(520))
	first, second := newVault(t), newVault(t)
	began := time.Now()
	report := importFolder(t, first, source.write(t), folder.ImportOptions{Notebook: "Notes 笔记"})
	t.Logf("import: %d documents, %d blocks, %d files, %d problems in %v", report.Documents, report.Blocks, report.Files, len(report.Problems), time.Since(began))
	if report.Documents < await.Fewer(520) {
		t.Errorf("%d documents were imported, want at least %d", report.Documents, await.Fewer(520))
	}
	began = time.Now()
	dir, out := exportNew(t, first, folder.ExportOptions{})
	t.Logf("export: %d documents in %v, %d problems", out.Documents, time.Since(began), len(out.Problems))
	for _, p := range out.Problems {
		if p.Code == "markdown" {
			t.Logf("not exact: %v", p)
		}
	}
	again := importFolder(t, second, dir, folder.ImportOptions{})
	for _, p := range again.Problems {
		t.Errorf("problem in an export of ours: %v", p)
	}
	back, _ := exportNew(t, second, folder.ExportOptions{})
	compareFiles(t, readFiles(t, back), readFiles(t, dir))
	openAllAndCheck(t, first)
	openAllAndCheck(t, second)
}
