package kerneltest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of blocks, as blocks.type spells them.
const (
	kindDocument  = "d"
	kindHeading   = "h"
	kindParagraph = "p"
	kindList      = "l"
	kindItem      = "i"
	kindTable     = "t"
	kindCode      = "c"
	kindMath      = "m"
	kindQuote     = "b"
	kindSuper     = "s"
	kindBreak     = "tb"
	kindHTML      = "html"
	kindIFrame    = "iframe"
	kindEmbed     = "query_embed"
	kindDatabase  = "av"
	kindCallout   = "callout"
	kindVideo     = "video"
	kindAudio     = "audio"
	kindWidget    = "widget"
)

// nodeTypes gives the name of a kind in the DOM, the outline and .sy files.
var nodeTypes = map[string]string{
	kindDocument: "NodeDocument", kindHeading: "NodeHeading", kindParagraph: "NodeParagraph", kindList: "NodeList",
	kindItem: "NodeListItem", kindTable: "NodeTable", kindCode: "NodeCodeBlock", kindMath: "NodeMathBlock",
	kindQuote: "NodeBlockquote", kindSuper: "NodeSuperBlock", kindBreak: "NodeThematicBreak",
	kindHTML: "NodeHTMLBlock", kindIFrame: "NodeIFrame", kindEmbed: "NodeBlockQueryEmbed",
	kindDatabase: "NodeAttributeView", kindCallout: "NodeCallout", kindVideo: "NodeVideo", kindAudio: "NodeAudio",
	kindWidget: "NodeWidget",
}

// indexSort gives blocks.sort of a kind.
var indexSort = map[string]int{
	kindDocument: 0, kindHeading: 5, kindParagraph: 10, kindCode: 10, kindMath: 10, kindTable: 10, kindHTML: 10,
	kindList: 20, kindItem: 20, kindQuote: 20, kindCallout: 20, kindSuper: 30,
}

// block is one block. A leaf has text, a container has children.
type block struct {
	id    string
	kind  string
	attrs map[string]string
	// text is the markdown of a leaf, without its IAL.
	text string
	// marker is "-" or "1." of a list item, "row" or "col" of a super block, "NOTE" of a callout.
	marker string
	// task is the letter between the brackets of a task, "" for other items.
	task     string
	parent   *block
	children []*block
	doc      *document
}

// container reports whether b may hold blocks.
func (b *block) container() bool {
	switch b.kind {
	case kindDocument, kindList, kindItem, kindQuote, kindSuper, kindCallout:
		return true
	}
	return false
}

// level is the level of a heading, 0 for other blocks.
func (b *block) level() int {
	if b.kind != kindHeading {
		return 0
	}
	return len(b.text) - len(strings.TrimLeft(b.text, "#"))
}

// subtype is h1 to h6, u, o, t, or the kind of a callout.
func (b *block) subtype() string {
	switch b.kind {
	case kindHeading:
		return "h" + strconv.Itoa(b.level())
	case kindCallout:
		return b.marker
	case kindItem:
		switch {
		case b.task != "":
			return "t"
		case b.marker != "-":
			return "o"
		}
		return "u"
	case kindList:
		if len(b.children) > 0 {
			return b.children[0].subtype()
		}
		return "u"
	}
	return ""
}

// index is the place of b among its siblings, -1 without a parent.
func (b *block) index() int {
	if b.parent == nil {
		return -1
	}
	return slices.Index(b.parent.children, b)
}

// sibling is the block offset places after b, nil when there is none.
func (b *block) sibling(offset int) *block {
	at := b.index() + offset
	if b.parent == nil || at < 0 || at >= len(b.parent.children) {
		return nil
	}
	return b.parent.children[at]
}

// section returns the blocks under a heading, down to the next heading of its level or above.
func (b *block) section() []*block {
	if b.kind != kindHeading || b.parent == nil {
		return nil
	}
	rest := b.parent.children[b.index()+1:]
	end := slices.IndexFunc(rest, func(s *block) bool { return s.kind == kindHeading && s.level() <= b.level() })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}

// above is the heading b lies under, or else its parent: what blocks.parent_id names.
func (b *block) above() *block {
	if b.parent == nil {
		return nil
	}
	own := b.level()
	for i := b.index() - 1; i >= 0; i-- {
		if s := b.parent.children[i]; s.kind == kindHeading && (own == 0 || s.level() < own) {
			return s
		}
	}
	return b.parent
}

// walk calls visit for b and everything below it in document order.
func (b *block) walk(visit func(*block)) {
	visit(b)
	for _, child := range b.children {
		child.walk(visit)
	}
}

// stampUpdated sets the updated attribute of b, its headings and containers, up to the document.
func (b *block) stampUpdated() {
	now := stamp(time.Now())
	for up := b; up != nil; up = up.parent {
		up.attrs["updated"] = now
	}
	if b.doc != nil {
		b.doc.root.attrs["updated"] = now
		b.doc.changed = time.Now()
	}
}

// insertAt puts blocks among b's children.
func (b *block) insertAt(at int, blocks ...*block) {
	b.children = slices.Insert(b.children, min(max(at, 0), len(b.children)), blocks...)
	for _, child := range blocks {
		child.parent = b
		child.walk(func(c *block) { c.doc = b.doc })
	}
}

// detach takes b out of its parent; a document never stays empty.
func (k *Kernel) detach(b *block, fill bool) {
	parent := b.parent
	if parent == nil {
		return
	}
	at := b.index()
	parent.children = slices.Delete(parent.children, at, at+1)
	b.parent = nil
	if len(parent.children) == 0 && parent.kind != kindDocument && parent.parent != nil {
		k.detach(parent, fill)
		k.forget(parent)
		return
	}
	if len(parent.children) == 0 && fill {
		parent.insertAt(0, k.emptyParagraph())
		k.register(parent)
	}
	parent.stampUpdated()
}

// emptyParagraph makes the block a document without text consists of.
func (k *Kernel) emptyParagraph() *block {
	id := k.newID()
	return &block{id: id, kind: kindParagraph, attrs: map[string]string{"id": id, "updated": id[:14]}}
}

// sortedKeys returns the names of attributes in the order we write them: id first.
func sortedKeys(attrs map[string]string) []string {
	keys := make([]string, 0, len(attrs))
	for name := range attrs {
		keys = append(keys, name)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(-cmp.Compare(boolInt(a == "id"), boolInt(b == "id")), strings.Compare(a, b))
	})
	return keys
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
