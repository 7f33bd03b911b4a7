package live

import (
	"fmt"
	"slices"
	"strings"
)

// everyBlock is Markdown with a block of each kind.
const everyBlock = "# Head 标题\n\npara **bold** `code` ==mark==\n\n- a\n  - b\n    - c\n- d\n\n1. one\n2. two\n\n- [ ] open\n- [x] done\n\n" +
	"> quote\n\n```go\nfunc main() {}\n```\n\n$$\nx^2\n$$\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n{{{row\nleft\n\nright\n}}}\n\n---\n\nlast 😀"

// tryBlocks is the step of the tour that reads and writes single blocks.
func (s *smoke) tryBlocks() {
	s.mustWrite("Blocks", everyBlock)
	doc := s.id("Blocks")
	page := s.mustCall("block.get_children", args{"id": doc, "pageSize": 200})
	var kinds []string
	for _, b := range page.Get("data").Array() {
		kinds = append(kinds, b.Get("type").String())
	}
	if want := []string{"h", "p", "l", "l", "l", "b", "c", "m", "t", "s", "tb", "p"}; !slices.Equal(kinds, want) {
		s.t.Fatalf("kinds %v, want %v", kinds, want)
	}
	all := ids(page.Get("data"))
	para := s.block("Blocks", "para")
	s.mustContain("kramdown", s.mustCall("block.get_kramdown", args{"id": para}).Get("kramdown").String(), "para **bold**")
	if n := len(s.mustCall("block.batch_kramdown", args{"ids": all}).Get("items").Array()); n != len(all) {
		s.t.Fatalf("%d of %d kramdowns", n, len(all))
	}
	s.mustContain("DOM", s.mustCall("block.dom", args{"id": para}).Get("dom").String(), "NodeParagraph")
	s.mustContain("info", s.mustCall("block.info", args{"id": para}).Raw, doc)
	s.mustContain("breadcrumb", s.mustCall("block.breadcrumb", args{"id": para}).Raw, "Head 标题")
	s.mustContain("word count", s.mustCall("block.word_count", args{"id": para}).Raw, "wordCount")
	s.mustContain("documents' facts", s.mustCall("block.docs_info", args{"id": doc}).Raw, doc)
	s.mustContain("recent", s.mustCall("block.recent_updated", args{}).Raw, "documents")
	s.mustCall("block.set_fold_state", args{"id": s.block("Blocks", "- a"), "folded": true})
	s.mustCall("block.set_fold_state", args{"id": s.block("Blocks", "- a"), "folded": false})
	s.mustCall("block.replace", args{"id": para, "edit": args{"old": "bold", "new": "fat"}})
	s.mustCall("block.prepend", args{"dataType": "markdown", "data": "very first", "parentID": doc})
	added := s.mustCall("block.insert", args{"blocks": []args{
		{"dataType": "markdown", "data": "after one", "previousID": para}, {"dataType": "markdown", "data": "after two", "previousID": para},
	}})
	if n := len(added.Get("createdBlockIDs").Array()); n != 2 {
		s.t.Fatalf("made %d blocks, want 2: %s", n, added.Raw)
	}
	s.mustCall("block.update", args{"items": []args{
		{"id": para, "dataType": "markdown", "data": "new para"}, {"id": all[len(all)-1], "dataType": "markdown", "data": "new last"},
	}})
	s.mustContain("the text", s.text("Blocks"), "very first", "after one", "after two", "new para", "new last", "func main() {}")
	s.mustRefuse("block.update", args{"id": s.notebook, "dataType": "markdown", "data": "x"}, "validation_error", "invalid_arguments", "not_found", "complex_blocks_not_supported_by_fs")
	s.mustRefuse("block.insert", args{"dataType": "markdown", "data": "x"}, "validation_error", "invalid_arguments")
	if !s.isSwitchedOff("block.delete", args{"id": para}) && strings.Contains(s.text("Blocks"), "new para") {
		s.t.Fatal("the block is still there")
	}
}

// tryMoves is the step that reads a window of a long document and moves blocks within it and to another document.
func (s *smoke) tryMoves() {
	s.mustWrite("Long", strings.Join(lines(120), "\n\n"))
	long := s.id("Long")
	read := s.mustCall("fs.read", args{"path": s.path("Long"), "blockStart": 100, "blockLimit": 30})
	s.mustContain("a window", read.Get("content").String(), "line 100 ", "line 119 ")
	if n := read.Get("totalBlocks").Int(); n != 120 {
		s.t.Fatalf("%d blocks, want 120", n)
	}
	all := s.mustCall("block.get_children", args{"id": long, "pageSize": 200})
	at := ids(all.Get("data"))
	s.mustCall("block.move", args{"ids": []string{at[5], at[3]}, "previousID": at[119]})
	now := ids(s.mustCall("block.get_children", args{"id": long, "pageSize": 200}).Get("data"))
	if got := now[len(now)-2:]; !slices.Equal(got, []string{at[5], at[3]}) {
		s.t.Fatalf("the last two are %v, want %v", got, []string{at[5], at[3]})
	}
	s.mustCall("block.move", args{"id": at[7], "parentID": s.id("Moved")})
	s.mustContain("the other document", s.text("Moved"), "line 7 ")
}

// lines returns the paragraphs of a document of n lines.
func lines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line %d of the long document 长", i)
	}
	return out
}
