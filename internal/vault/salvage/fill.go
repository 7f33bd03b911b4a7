package salvage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"collie/internal/sorting"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file writes what was found in a damaged file into a new vault.

// Lost is something that could not be recovered.
type Lost struct {
	// Where is the path of a document, a file, or the vault.
	Where string `json:"where"`
	What  string `json:"what"`
}

// salvageBox is the notebook for documents whose own notebook could not be read.
const salvageBox = "20000101000000-salvage"

// Empty reports whether no text was found.
func (f *Found) Empty() bool { return len(f.nodes) == 0 }

// Fill adds what was found to an empty vault, and returns what is missing.
func (f *Found) Fill(ctx context.Context, w *workspace.Workspace) (lost []Lost, err error) {
	if f.Unread > 0 {
		lost = append(lost, Lost{"the vault", fmt.Sprintf("%d of %d pages could not be read", f.Unread, f.Pages)})
	}
	slices.Sort(f.broken)
	for _, at := range slices.Compact(f.broken) {
		if f.files[at].data == nil {
			lost = append(lost, Lost{at, "the file is damaged: left out"})
		}
	}
	f.assignBlocks()
	boxes := map[string][]*document{}
	for _, d := range f.documents {
		boxes[d.box] = append(boxes[d.box], d)
	}
	for id := range f.notebooks {
		boxes[id] = append([]*document{}, boxes[id]...)
	}
	for _, id := range slices.Sorted(maps.Keys(boxes)) {
		list := boxes[id]
		sorting.By(list, func(a, b *document) int { return cmp.Or(cmp.Compare(a.sort, b.sort), cmp.Compare(a.n, b.n)) })
		conf, ok := f.notebooks[id]
		if !ok {
			conf = tree.NewConf("Salvaged " + id)
			lost = append(lost, Lost{conf.Name, "the settings of the notebook could not be read, its name with them"})
		}
		boxLost, err := f.fillBox(ctx, w, id, conf, list)
		if err != nil {
			return nil, err
		}
		lost = append(lost, boxLost...)
	}
	return lost, f.fillFiles(ctx, w)
}

// assignBlocks assigns blocks to their documents. If a document was not found, a new one is made for its blocks.
func (f *Found) assignBlocks() {
	for _, b := range f.nodes {
		d := f.documents[b.doc]
		if d == nil {
			d = &document{n: b.doc, box: salvageBox, sort: int(b.doc % (1 << 30))}
			f.documents[b.doc] = d
		}
		if _, box := f.notebooks[b.id]; b.kind == tree.Doc && d.id == "" && f.byID[b.id] == nil && !box {
			d.id, f.byID[b.id] = b.id, d // unless a damaged row has given it to another document
		}
		d.nodes = append(d.nodes, b)
	}
	for _, d := range f.documents {
		if _, box := f.notebooks[d.id]; box && d.box != d.id {
			d.id = "" // only a notebook's own page may have its id
		}
	}
}

// fillBox creates a notebook with its documents, parents first.
func (f *Found) fillBox(ctx context.Context, w *workspace.Workspace, id string, conf tree.Conf, list []*document) (lost []Lost, err error) {
	conf.Closed = false
	idByNumber := map[int64]string{0: ""}
	err = w.Update(ctx, func(tx *workspace.Tx) error {
		tx.AddNotebook(&tree.Notebook{ID: id, Conf: conf})
		return nil
	})
	hidden := false
	for len(list) > 0 && err == nil {
		var later []*document
		err = w.Update(ctx, func(tx *workspace.Tx) error {
			later = nil
			n := 0
			for _, d := range list {
				up, placed := idByNumber[d.parent]
				if _, exists := f.documents[d.parent]; !placed && exists && f.documents[d.parent].box == id && f.documents[d.parent] != d || n >= 50 {
					later = append(later, d)
					continue
				}
				n++
				if !placed {
					lost = append(lost, Lost{displayName(d), "the document above it could not be read: it lies at the top"})
				}
				root, docLost := f.buildTree(d)
				lost = append(lost, docLost...)
				box := tx.Notebook(id)
				var parent *tree.Document
				if up != "" {
					parent = tx.Document(up)
				}
				idByNumber[d.n] = f.add(tx, box, parent, d, root)
				hidden = hidden || idByNumber[d.n] == id
				if tx.Err() != nil {
					return tx.Err()
				}
			}
			return nil
		})
		if len(later) == len(list) { // a cycle: they are below each other
			later[0].parent = 0
			lost = append(lost, Lost{displayName(later[0]), "it and the document above it lie below each other: it lies at the top"})
		}
		list = later
	}
	if err == nil && !hidden {
		err = w.Update(ctx, func(tx *workspace.Tx) error {
			page := tx.AddDocument(tx.Notebook(id), nil, conf.Name, id, nil)
			page.Root.Attrs["custom-hidden"] = "true"
			return nil
		})
	}
	return lost, err
}

// add adds a document and returns its id.
func (f *Found) add(tx *workspace.Tx, box *tree.Notebook, parent *tree.Document, d *document, root *tree.Block) string {
	title := root.Attrs["title"]
	if title == "" {
		title = displayName(d)[strings.LastIndexByte(displayName(d), '/')+1:]
	}
	doc := tx.AddDocument(box, parent, title, d.id, tx.Identify(root.Children))
	for name, value := range root.Attrs {
		if name != "id" {
			doc.Root.Attrs[name] = value
		}
	}
	doc.Sort = d.sort
	return doc.ID()
}

// displayName returns a name of a document for people.
func displayName(d *document) string {
	switch {
	case d.hpath != "" && d.hpath != "/":
		return d.hpath
	case d.id != "":
		return "document " + d.id
	}
	return fmt.Sprintf("document %d", d.n)
}

// buildTree returns the tree of a document's blocks, and what is missing in it. Blocks whose container is missing go to
// the root.
func (f *Found) buildTree(d *document) (root *tree.Block, lost []Lost) {
	sorting.By(d.nodes, func(a, b *node) int { return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.n, b.n)) })
	blocks := map[int64]*tree.Block{}
	size := int64(0)
	for _, b := range d.nodes {
		block := &tree.Block{Kind: b.kind, Marker: b.marker, Task: b.task, Attrs: tree.ParseIAL(b.ial)}
		if block.Attrs == nil {
			block.Attrs = map[string]string{}
		}
		if !block.Container() {
			block.Text = b.text
		}
		size += int64(len(b.ial)+len(b.text)) + 120 // counted like document.size
		blocks[b.n] = block
		if b.kind == tree.Doc && root == nil {
			root = block
		}
	}
	if root == nil {
		root = &tree.Block{Kind: tree.Doc, Attrs: map[string]string{}}
		lost = append(lost, Lost{displayName(d), "its title and attributes could not be read"})
	}
	loose := 0
	for _, b := range d.nodes {
		block := blocks[b.n]
		if block == root {
			continue
		}
		up := blocks[b.parent]
		if up == nil || !up.Container() || isInsideItself(blocks, b) {
			up = root
			loose++
		}
		block.Parent = up
		up.Children = append(up.Children, block)
	}
	pruneEmpty(root)
	switch {
	case d.hpath == "" && d.box == salvageBox:
		lost = append(lost, Lost{displayName(d), "the place of the document could not be read"})
	case size < d.size:
		lost = append(lost, Lost{displayName(d), fmt.Sprintf("about %d of %d bytes are missing", d.size-size, d.size)})
	}
	if loose > 0 {
		lost = append(lost, Lost{displayName(d), fmt.Sprintf("%d blocks have lost what they were in: they stand at the end", loose)})
	}
	return root, lost
}

// isInsideItself reports whether a block is above itself, because a row is damaged.
func isInsideItself(blocks map[int64]*tree.Block, b *node) bool {
	for up := blocks[b.parent]; up != nil; up = up.Parent {
		if up == blocks[b.n] {
			return true
		}
	}
	return false
}

// pruneEmpty removes empty containers below b.
func pruneEmpty(b *tree.Block) {
	b.Children = slices.DeleteFunc(b.Children, func(child *tree.Block) bool {
		pruneEmpty(child)
		return child.Container() && len(child.Children) == 0
	})
}

// fillFiles writes assets, databases and other files.
func (f *Found) fillFiles(ctx context.Context, w *workspace.Workspace) error {
	for at, file := range f.files {
		if err := w.Update(ctx, func(tx *workspace.Tx) error {
			tx.WriteFile(at, file.data, time.UnixMilli(file.changed))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
