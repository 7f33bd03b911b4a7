package tree

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has one block of a document, with what follows from its place in the tree.

// Block is one block. A leaf has text, a container has children.
type Block struct {
	ID   string
	Kind string
	// Attrs are the attributes, including id and updated. It is never nil for a block in a document.
	Attrs map[string]string
	// Text is the Markdown of a leaf, without its attribute list.
	Text string
	// Marker is "-" or "1." for a list item, and "row" or "col" for a super block. For a callout it is the kind, such
	// as NOTE, followed by the icon and title if they are not the default ones.
	Marker string
	// Task is the character between the brackets of a task, "" for other items.
	Task string

	Parent   *Block
	Children []*Block
	// Doc is the document of the block, nil if it is in none.
	Doc *Document
	// Stored holds what the storage remembers of the block; nothing else uses it. Clones have none.
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

// Level returns the level of a heading, 0 for other blocks.
func (b *Block) Level() int {
	if b.Kind != Heading {
		return 0
	}
	return len(b.Text) - len(strings.TrimLeft(b.Text, "#"))
}

// CutCallout splits the marker of a callout into its kind and the rest, which is an icon or a title or both. A kind
// with a blank is in brackets: [two words].
func CutCallout(marker string) (kind, title string) {
	if inner, found := strings.CutPrefix(marker, "["); found {
		kind, title, _ = strings.Cut(inner, "]")
		return kind, strings.TrimPrefix(title, " ")
	}
	kind, title, _ = strings.Cut(marker, " ")
	return kind, title
}

// Subtype returns the subtype as in blocks.subtype: h1 to h6, u, o or t, or the kind of a callout.
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

// Section returns the blocks under a heading: up to the next heading of the same or a higher level.
func (b *Block) Section() []*Block {
	if b.Kind != Heading || b.Parent == nil {
		return nil
	}
	following := b.Parent.Children[b.Index()+1:]
	end := slices.IndexFunc(following, func(s *Block) bool { return s.Kind == Heading && s.Level() <= b.Level() })
	if end < 0 {
		end = len(following)
	}
	return following[:end]
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

// Walk calls visit for b and all blocks below it, in document order.
func (b *Block) Walk(visit func(*Block)) {
	visit(b)
	for _, child := range b.Children {
		child.Walk(visit)
	}
}

// Inside reports whether b is other or is below it.
func (b *Block) Inside(other *Block) bool {
	for up := b; up != nil; up = up.Parent {
		if up == other {
			return true
		}
	}
	return false
}

// Created returns the creation time of b from its id, as in blocks.created.
func (b *Block) Created() string { return b.ID[:min(14, len(b.ID))] }

// Stamp sets the attribute updated to now, for b and the blocks above it up to the document.
func (b *Block) Stamp() {
	now := Stamp(time.Now())
	for up := b; up != nil; up = up.Parent {
		up.Attrs["updated"] = now
	}
	if b.Doc != nil {
		b.Doc.Root.Attrs["updated"] = now
	}
}

// Insert inserts blocks into the children of b at an index. An index out of range means the nearest end.
func (b *Block) Insert(at int, blocks ...*Block) {
	b.Children = slices.Insert(b.Children, min(max(at, 0), len(b.Children)), blocks...)
	for _, child := range blocks {
		child.Parent = b
		child.Walk(func(c *Block) { c.Doc = b.Doc })
	}
}

// Cut removes b, with all blocks below it, from its parent and document.
func (b *Block) Cut() {
	if b.Parent != nil {
		at := b.Index()
		b.Parent.Children = slices.Delete(b.Parent.Children, at, at+1)
		b.Parent = nil
	}
	b.Walk(func(c *Block) { c.Doc = nil })
}

// Clone copies b and all blocks below it, with their ids. The copy has no parent, document or Stored.
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
