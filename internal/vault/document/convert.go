package document

import (
	"slices"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that make a document of a heading, and a heading of a document.

// heading2Doc converts a heading and the blocks under it to a document. It has the id of the heading.
func heading2Doc(tx *workspace.Tx, req api.Request) api.Reply {
	h := tx.Block(req.ID("srcHeadingID"))
	if h == nil || h.Kind != tree.Heading {
		return api.Notice(blockNotFound, shortError)
	}
	box := tx.OpenNotebook(req.Str("targetNoteBook"))
	if box == nil {
		return api.Notice(notebookFailed, shortError)
	}
	var parent *tree.Document
	if path := req.OptStr("targetPath"); path != "" && path != "/" {
		if parent = tx.DocumentAt(box.ID, path); parent == nil {
			return api.Notice(blockNotFound, shortError)
		}
	}
	if !fitsDepth(parent, 1) {
		return api.Notice(treeTooDeep, shortError)
	}
	title := strings.TrimSpace(strings.ReplaceAll(markup.Content(h), "/", ""))
	blocks := slices.Clone(h.Section())
	edit.SaveBefore(tx, h.Doc)
	for _, block := range blocks {
		block.Cut()
	}
	edit.Detach(tx, h)
	tx.AddDocument(box, parent, title, h.ID, blocks)
	return api.Done()
}

// doc2Heading converts a document to a section beside a block of another document. The heading has the id of the
// document. In SiYuan a document that is its own target is destroyed, and documents below the source are lost; here
// both are refused.
func doc2Heading(tx *workspace.Tx, req api.Request) api.Reply {
	after := req.Flag("after")
	d, target := tx.Document(req.ID("srcID")), tx.Block(req.ID("targetID"))
	switch {
	case d == nil || target == nil:
		return api.Notice(blockNotFound, shortError)
	case d.Hidden():
		return api.Notice(pageIsFixed, shortError)
	case target.Kind == tree.Doc:
		return api.Notice("the target must be a block inside a document, not a document", shortError)
	case target.Doc == d:
		return api.Notice("the target lies in the document itself", shortError)
	case len(tx.Children(d.Box, d)) > 0:
		return api.Notice("the document has documents below it, which must be moved or removed first", shortError)
	}
	answer := map[string]any{"srcTreeBox": d.Box.ID, "srcTreePath": d.Path()}
	blocks := asSection(d, levelAt(target))
	edit.Remove(tx, d)
	into, at := target.Parent, target.Index()
	switch {
	case target.Kind == tree.Item:
		into, at = target, 0
		if after {
			at = len(target.Children)
		}
	case after:
		at += 1 + len(target.Section())
	}
	edit.Put(tx, into, at, blocks)
	return api.OK(answer)
}

// levelAt returns the level for a new heading next to a block: the level of the block if it is a heading, otherwise one
// below the heading above it in its container.
func levelAt(target *tree.Block) int {
	if target.Kind == tree.Heading {
		return target.Level()
	}
	if up := target.Above(); target.Kind != tree.Item && up.Kind == tree.Heading {
		return min(6, up.Level()+1)
	}
	return 1
}

// asSection returns a copy of the content of d as a section: a heading of a level, and d's blocks, with their headings
// below that level.
func asSection(d *tree.Document, level int) []*tree.Block {
	attrs := map[string]string{"id": d.ID(), "updated": tree.Stamp(time.Now())}
	blocks := []*tree.Block{{ID: d.ID(), Kind: tree.Heading, Text: strings.Repeat("#", level) + " " + d.Title(), Attrs: attrs}}
	for _, b := range d.Root.Children {
		blocks = append(blocks, b.Clone())
	}
	shiftHeadings(blocks[1:], level)
	return blocks
}

// shiftHeadings shifts the headings in blocks to the levels below level.
func shiftHeadings(blocks []*tree.Block, level int) {
	top := 7
	for _, b := range blocks {
		if l := b.Level(); l > 0 {
			top = min(top, l)
		}
	}
	for _, b := range blocks {
		if l := b.Level(); l > 0 {
			b.Text = strings.Repeat("#", min(6, l-top+level+1)) + strings.TrimLeft(b.Text, "#")
		}
	}
}
