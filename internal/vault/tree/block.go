package tree

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Block is one block. A leaf has text, a container has children.
type Block struct {
	ID   string
	Kind string
	// Attrs are its attributes, including id and updated; never nil on a block of a document.
	Attrs map[string]string
	// Text is the Markdown of a leaf, without its attribute list.
	Text string
	// Marker is "-" or "1." for a list item, "row" or "col" for a super block, "NOTE" for a callout, followed by its
	// own icon and title if it has them.
	Marker string
	// Task is the letter in the brackets of a task, "" for other items.
	Task string

	Parent   *Block
	Children []*Block
	// Doc is its document, nil if it is in none.
	Doc *Document
	// Stored is the storage's own data about this block. Clones have none.
	Stored any
}

// Container reports whether b may have child blocks.
func (b *Block) Container() bool {
	switch b.Kind {
	case Doc, List, Item, Quote, Super, Callout:
		return true
	}
	return false
}

// Level is the level of a heading, 0 for other blocks.
func (b *Block) Level() int {
	if b.Kind != Heading {
		return 0
	}
	return len(b.Text) - len(strings.TrimLeft(b.Text, "#"))
}

// CutCallout splits the marker of a callout into its kind and the rest, an icon or a title. A kind with a blank is in
// brackets: [two words].
func CutCallout(marker string) (kind, title string) {
	if inner, found := strings.CutPrefix(marker, "["); found {
		kind, title, _ = strings.Cut(inner, "]")
		return kind, strings.TrimPrefix(title, " ")
	}
	kind, title, _ = strings.Cut(marker, " ")
	return kind, title
}

// Subtype returns h1 to h6, u, o, t, or the kind of a callout.
func (b *Block) Subtype() string {
	switch b.Kind {
	case Heading:
		return "h" + strconv.Itoa(b.Level())
	case Callout:
		kind, _ := CutCallout(b.Marker)
		return kind
	case Item:
		switch {
		case b.Task != "":
			return "t"
		case b.Marker != "-":
			return "o"
		}
		return "u"
	case List:
		if len(b.Children) > 0 {
			return b.Children[0].Subtype()
		}
		return "u"
	}
	return ""
}

// Index returns the index of b among its siblings, -1 without a parent.
func (b *Block) Index() int {
	if b.Parent == nil {
		return -1
	}
	return slices.Index(b.Parent.Children, b)
}

// Sibling returns the block offset places after b, nil if there is none.
func (b *Block) Sibling(offset int) *Block {
	at := b.Index() + offset
	if b.Parent == nil || at < 0 || at >= len(b.Parent.Children) {
		return nil
	}
	return b.Parent.Children[at]
}

// Section returns the blocks under a heading, down to the next heading of its level or above.
func (b *Block) Section() []*Block {
	if b.Kind != Heading || b.Parent == nil {
		return nil
	}
	rest := b.Parent.Children[b.Index()+1:]
	end := slices.IndexFunc(rest, func(s *Block) bool { return s.Kind == Heading && s.Level() <= b.Level() })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}

// Above returns the heading above b, or else its parent, as in blocks.parent_id.
func (b *Block) Above() *Block {
	if b.Parent == nil {
		return nil
	}
	level := b.Level()
	for i := b.Index() - 1; i >= 0; i-- {
		if s := b.Parent.Children[i]; s.Kind == Heading && (level == 0 || s.Level() < level) {
			return s
		}
	}
	return b.Parent
}

// Walk calls visit for b and everything below it in document order.
func (b *Block) Walk(visit func(*Block)) {
	visit(b)
	for _, child := range b.Children {
		child.Walk(visit)
	}
}

// Inside reports whether b is other or lies below it.
func (b *Block) Inside(other *Block) bool {
	for up := b; up != nil; up = up.Parent {
		if up == other {
			return true
		}
	}
	return false
}

// Created returns when b was created, as in blocks.created.
func (b *Block) Created() string { return b.ID[:min(14, len(b.ID))] }

// Stamp sets the attribute updated of b and its containers, up to the document, to now.
func (b *Block) Stamp() {
	now := Stamp(time.Now())
	for up := b; up != nil; up = up.Parent {
		up.Attrs["updated"] = now
	}
	if b.Doc != nil {
		b.Doc.Root.Attrs["updated"] = now
	}
}

// Insert inserts blocks at index at of b's children; an index out of range is moved into it.
func (b *Block) Insert(at int, blocks ...*Block) {
	b.Children = slices.Insert(b.Children, min(max(at, 0), len(b.Children)), blocks...)
	for _, child := range blocks {
		child.Parent = b
		child.Walk(func(c *Block) { c.Doc = b.Doc })
	}
}

// Cut removes b, with all below it, from its parent and its document.
func (b *Block) Cut() {
	if b.Parent != nil {
		at := b.Index()
		b.Parent.Children = slices.Delete(b.Parent.Children, at, at+1)
		b.Parent = nil
	}
	b.Walk(func(c *Block) { c.Doc = nil })
}

// Clone copies b and all below it, with their ids. The copy has no parent, no document and no storage data.
func (b *Block) Clone() *Block {
	c := *b
	c.Parent, c.Doc, c.Stored = nil, nil, nil
	c.Attrs = maps.Clone(b.Attrs)
	c.Children = make([]*Block, len(b.Children))
	for i, child := range b.Children {
		c.Children[i] = child.Clone()
		c.Children[i].Parent = &c
	}
	return &c
}
