package kernel

import (
	"encoding/json"
	"strings"

	"collie/internal/lazyregexp"
)

// This file reads the editor's form of blocks, which is HTML.

// DOMBlock is a block in the editor's form of a text.
type DOMBlock struct {
	ID   ID
	Type string // NodeParagraph, NodeList, …
	// Start and End are its byte offsets in the text.
	Start, End int
	// Open counts the divs around it, which must be closed if the text is cut after it.
	Open   int
	Blocks []DOMBlock // its children, in order
}

var (
	domNodeID   = lazyregexp.New(`\sdata-node-id="([^"]*)"`)
	domNodeType = lazyregexp.New(`\sdata-type="([^"]*)"`)
)

// ParseDOM returns the blocks of a text in the editor's form. Answers to writes name only the first new block; the
// others are only in that form. Blocks are div elements with a data-node-id; other elements are skipped. Unclosed
// elements end with the text.
func ParseDOM(dom string) []DOMBlock {
	s := domScan{dom: dom}
	for s.readTag() {
	}
	for len(s.open) > 0 {
		s.closeDiv(len(dom))
	}
	return s.top
}

// domScan walks over the tags of a text.
type domScan struct {
	dom  string
	at   int
	open []*DOMBlock // for each open div its block, nil if it is not a block
	top  []DOMBlock
}

// readTag reads the next tag, if there is one.
func (s *domScan) readTag() bool {
	i := strings.IndexByte(s.dom[s.at:], '<')
	if i < 0 {
		return false
	}
	start := s.at + i
	if strings.HasPrefix(s.dom[start:], "<!--") {
		end := strings.Index(s.dom[start:], "-->")
		if end < 0 {
			return false
		}
		s.at = start + end + len("-->")
		return true
	}
	end := TagEnd(s.dom, start)
	s.at = end
	switch tag := s.dom[start:end]; {
	case isDivTag(tag, "</div"):
		if len(s.open) > 0 {
			s.closeDiv(end)
		}
	case isDivTag(tag, "<div"):
		s.open = append(s.open, blockOfTag(tag, start))
	}
	return true
}

// closeDiv ends the innermost div; end is the offset after its closing tag.
func (s *domScan) closeDiv(end int) {
	last := len(s.open) - 1
	b := s.open[last]
	s.open = s.open[:last]
	if b == nil {
		return
	}
	b.End, b.Open = end, last
	for i := last - 1; i >= 0; i-- {
		if s.open[i] != nil {
			s.open[i].Blocks = append(s.open[i].Blocks, *b)
			return
		}
	}
	s.top = append(s.top, *b)
}

func blockOfTag(tag string, start int) *DOMBlock {
	id := domNodeID.FindStringSubmatch(tag)
	if id == nil || !ID(id[1]).Valid() {
		return nil
	}
	b := &DOMBlock{ID: ID(id[1]), Start: start}
	if t := domNodeType.FindStringSubmatch(tag); t != nil {
		b.Type = t[1]
	}
	return b
}

// isDivTag reports whether a tag begins with "<div" or "</div" and has no longer name.
func isDivTag(tag, begin string) bool {
	if len(tag) <= len(begin) || !strings.EqualFold(tag[:len(begin)], begin) {
		return false
	}
	return strings.IndexByte(" \t\r\n/>", tag[len(begin)]) >= 0
}

// TagEnd returns the offset after the tag whose "<" is at start; the length of the text if the tag is not closed. A
// ">" in quotes does not close it.
func TagEnd(dom string, start int) int {
	var quote byte
	for i := start + 1; i < len(dom); i++ {
		switch c := dom[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(dom)
}

// InsertedBlocks returns the top-level blocks that the insertions of a transaction were meant to create, with their children. It
// does not tell whether they exist: see [Client.Nodes].
func InsertedBlocks(t Transaction) []DOMBlock {
	var out []DOMBlock
	for _, op := range t.DoOperations {
		if op.Action != "insert" {
			continue
		}
		blocks := ParseDOM(DOMOf(op.Data))
		if op.ID != "" && (len(blocks) == 0 || blocks[0].ID != op.ID) {
			out = append(out, DOMBlock{ID: op.ID}) // DOM without an id; the kernel assigned one
		}
		out = append(out, blocks...)
	}
	return out
}

// DOMOf returns the DOM that an operation carries as data; "" if it carries something else.
func DOMOf(data json.RawMessage) string {
	var dom string
	if json.Unmarshal(data, &dom) != nil {
		return ""
	}
	return dom
}
