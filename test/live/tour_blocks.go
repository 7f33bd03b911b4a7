package live

import (
	"fmt"
	"slices"
	"strings"
)

// everyBlock is Markdown with a block of each kind.
const everyBlock = "# Head 标题\n\npara **bold** `code` ==mark==\n\n- a\n  - b\n    - c\n- d\n\n1. one\n2. two\n\n- [ ] open\n- [x] done\n\n" +
	"> quote\n\n```go\nfunc main() {}\n```\n\n$$\nx^2\n$$\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n{{{row\nleft\n\nright\n}}}\n\n---\n\nlast 😀"

// blocks is the step of the tour that reads and writes single blocks.
func (s *smoke) blocks() {
	s.write("Blocks", everyBlock)
	doc := s.id("Blocks")
	page := s.do("block.get_children", args{"id": doc, "pageSize": 200})
	var kinds []string
	for _, b := range page.Get("data").Array() {
		kinds = append(kinds, b.Get("type").String())
	}
	if want := []string{"h", "p", "l", "l", "l", "b", "c", "m", "t", "s", "tb", "p"}; !slices.Equal(kinds, want) {
		s.t.Fatalf("kinds %v, want %v", kinds, want)
	}
	all := ids(page.Get("data"))
	para := s.block("Blocks", "para")
	s.want("kramdown", s.do("block.get_kramdown", args{"id": para}).Get("kramdown").String(), "para **bold**")
	if n := len(s.do("block.batch_kramdown", args{"ids": all}).Get("items").Array()); n != len(all) {
		s.t.Fatalf("%d of %d kramdowns", n, len(all))
	}
	s.want("DOM", s.do("block.dom", args{"id": para}).Get("dom").String(), "NodeParagraph")
	s.want("info", s.do("block.info", args{"id": para}).Raw, doc)
	s.want("breadcrumb", s.do("block.breadcrumb", args{"id": para}).Raw, "Head 标题")
	s.want("word count", s.do("block.word_count", args{"id": para}).Raw, "wordCount")
	s.want("documents' facts", s.do("block.docs_info", args{"id": doc}).Raw, doc)
	s.want("recent", s.do("block.recent_updated", args{}).Raw, "documents")
	s.do("block.set_fold_state", args{"id": s.block("Blocks", "- a"), "folded": true})
	s.do("block.set_fold_state", args{"id": s.block("Blocks", "- a"), "folded": false})
	s.do("block.replace", args{"id": para, "edit": args{"old": "bold", "new": "fat"}})
	s.do("block.prepend", args{"dataType": "markdown", "data": "very first", "parentID": doc})
	added := s.do("block.insert", args{"blocks": []args{
		{"dataType": "markdown", "data": "after one", "previousID": para}, {"dataType": "markdown", "data": "after two", "previousID": para},
	}})
	if n := len(added.Get("createdBlockIDs").Array()); n != 2 {
		s.t.Fatalf("made %d blocks, want 2: %s", n, added.Raw)
	}
	s.do("block.update", args{"items": []args{
		{"id": para, "dataType": "markdown", "data": "new para"}, {"id": all[len(all)-1], "dataType": "markdown", "data": "new last"},
	}})
	s.want("the text", s.text("Blocks"), "very first", "after one", "after two", "new para", "new last", "func main() {}")
	s.refused("block.update", args{"id": s.notebook, "dataType": "markdown", "data": "x"}, "validation_error", "invalid_arguments", "not_found", "complex_blocks_not_supported_by_fs")
	s.refused("block.insert", args{"dataType": "markdown", "data": "x"}, "validation_error", "invalid_arguments")
	if !s.off("block.delete", args{"id": para}) && strings.Contains(s.text("Blocks"), "new para") {
		s.t.Fatal("the block is still there")
	}
}

// moves is the step that reads a window of a long document and moves blocks within it and to another document.
func (s *smoke) moves() {
	s.write("Long", strings.Join(lines(120), "\n\n"))
	long := s.id("Long")
	read := s.do("fs.read", args{"path": s.path("Long"), "blockStart": 100, "blockLimit": 30})
	s.want("a window", read.Get("content").String(), "line 100 ", "line 119 ")
	if n := read.Get("totalBlocks").Int(); n != 120 {
		s.t.Fatalf("%d blocks, want 120", n)
	}
	all := s.do("block.get_children", args{"id": long, "pageSize": 200})
	at := ids(all.Get("data"))
	s.do("block.move", args{"ids": []string{at[5], at[3]}, "previousID": at[119]})
	now := ids(s.do("block.get_children", args{"id": long, "pageSize": 200}).Get("data"))
	if got := now[len(now)-2:]; !slices.Equal(got, []string{at[5], at[3]}) {
		s.t.Fatalf("the last two are %v, want %v", got, []string{at[5], at[3]})
	}
	s.do("block.move", args{"id": at[7], "parentID": s.id("Moved")})
	s.want("the other document", s.text("Moved"), "line 7 ")
}

// lines returns the paragraphs of a document of n lines.
func lines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line %d of the long document 长", i)
	}
	return out
}
