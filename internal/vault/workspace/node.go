package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// This file writes the rows of single blocks and what is derived from them.

// nextNode returns a number for a new block. Only one transaction at a time writes, so the largest number is known.
func (tx *Tx) nextNode() int64 {
	if tx.lastNode == 0 {
		tx.lastNode, _ = tx.number("SELECT coalesce(max(n), 0) FROM node")
	}
	tx.lastNode++
	return tx.lastNode
}

// moveNode writes the position of a block that is otherwise unchanged.
func (tx *Tx) moveNode(r *nodeRow) {
	tx.exec("UPDATE node SET doc = ?, parent = ?, pos = ?, above = ? WHERE n = ?", r.doc, r.parent, r.pos, r.above, r.n)
}

// The size of a node is approximately the number of bytes it takes in a .sy file; nodeSize computes it from a row.
const (
	nodeOverhead = 120
	nodeSize     = "octet_length(node.ial) + octet_length(node.markdown) + 120"
)

// sizeOf sums the sizes of nodes.
func sizeOf(rows []*nodeRow) (size int64) {
	for _, r := range rows {
		size += r.size
	}
	return size
}

// derivedColumns are the columns of a block's row that are derived from the block and the blocks inside it.
type derivedColumns struct {
	subtype, ial, updated string
	indexed               [5]string // name, alias, memo, tag and content
	first, markdown, hash string
	length, sort          int
}

// derive computes the derived columns of a block.
func derive(b *tree.Block) derivedColumns {
	d := derivedColumns{
		subtype: b.Subtype(), ial: tree.IAL(b.Attrs), updated: b.Attrs["updated"],
		indexed:  [5]string{b.Attrs["name"], b.Attrs["alias"], b.Attrs["memo"], blockTags(b), markup.Content(b)},
		first:    markup.FirstContent(b),
		markdown: b.Text,
		sort:     tree.Sort(b.Kind),
	}
	content := d.indexed[4]
	// The row of a container has its whole text, but the length of its first leaf.
	d.length = utf8.RuneCountInString(content)
	if b.Container() {
		d.length, d.markdown = utf8.RuneCountInString(d.first), markup.Markdown(b)
	}
	sum := sha256.Sum256([]byte(b.ID + content + d.markdown))
	d.hash = hex.EncodeToString(sum[:4])[:7]
	return d
}

// node writes the row of a new or changed block, and the rows derived from it.
func (f *flusher) node(b *tree.Block, r *nodeRow, isNew bool) {
	tx, d := f.tx, derive(b)
	if !isNew {
		f.unindex(r.n)
		tx.eraseDerived(r.n)
	}
	statement := `INSERT INTO node (doc, parent, pos, above, type, subtype, marker, task, ial, name, alias, memo, tag,
		content, fcontent, markdown, length, hash, sort, updated, id, n)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	if !isNew {
		statement = `UPDATE node SET doc = ?, parent = ?, pos = ?, above = ?, type = ?, subtype = ?, marker = ?, task = ?,
			ial = ?, name = ?, alias = ?, memo = ?, tag = ?, content = ?, fcontent = ?, markdown = ?, length = ?,
			hash = ?, sort = ?, updated = ?, id = ? WHERE n = ?`
	}
	tx.exec(statement, r.doc, r.parent, r.pos, r.above, b.Kind, d.subtype, b.Marker, b.Task, d.ial,
		d.indexed[0], d.indexed[1], d.indexed[2], d.indexed[3], d.indexed[4], d.first, d.markdown, d.length,
		d.hash, d.sort, d.updated, b.ID, r.n)
	r.size = nodeOverhead + int64(len(d.ial)+len(d.markdown))
	f.index(r.n, d.indexed)
	for _, row := range derivedRows(b) {
		tx.exec(row.insert(), append([]any{r.n}, row.values...)...)
	}
}

// erase deletes the row of a block and the rows derived from it. Blocks inside it are erased separately.
func (f *flusher) erase(n int64) {
	f.unindex(n)
	f.tx.eraseDerived(n)
	f.tx.exec("DELETE FROM node WHERE n = ?", n)
}

// unindex records that the current texts of a node are to be removed from the index.
func (f *flusher) unindex(n int64) {
	f.indexed[n] = indexChange{removed: f.tx.indexedTexts(n)}
}

// index records that these texts of a node are to be added to the index, unless it has the same ones already.
func (f *flusher) index(n int64, texts [5]string) {
	out := f.indexed[n].removed
	switch {
	case out != nil && *out == texts:
		delete(f.indexed, n)
	case f.open:
		f.indexed[n] = indexChange{removed: out, added: &texts}
	}
}

// eraseDerived deletes the rows of other tables that are derived from a block.
func (tx *Tx) eraseDerived(n int64) {
	tx.exec("DELETE FROM attribute WHERE node = ?", n)
	tx.exec("DELETE FROM span WHERE node = ?", n)
	tx.exec("DELETE FROM ref WHERE node = ?", n)
	tx.exec("DELETE FROM asset WHERE node = ?", n)
	tx.exec("DELETE FROM annotation WHERE node = ?", n)
}

// derivedRow is a row of another table that is derived from a block.
type derivedRow struct {
	table  string
	values []any // without the node
}

// derivedTables are the tables whose rows are derived from blocks.
var derivedTables = []string{"attribute", "span", "ref", "asset", "annotation"}

// insert returns the statement that inserts the row.
func (f derivedRow) insert() string {
	switch f.table { // constant texts, so that compiled statements are reused
	case "attribute":
		return "INSERT INTO attribute (node, id, name, value) VALUES (?, ?, ?, ?)"
	case "span":
		return "INSERT INTO span (node, id, content, markdown, type) VALUES (?, ?, ?, ?, ?)"
	case "ref":
		return "INSERT INTO ref (node, id, def, content, markdown, type) VALUES (?, ?, ?, ?, ?, ?)"
	case "annotation":
		return "INSERT INTO annotation (node, id, path, annotation, content) VALUES (?, ?, ?, ?, ?)"
	}
	return "INSERT INTO asset (node, id, path, name, title) VALUES (?, ?, ?, ?, ?)"
}

// derivedRows returns the attributes, spans, references, assets and annotations of a block.
func derivedRows(b *tree.Block) (list []derivedRow) {
	for _, name := range tree.Names(b.Attrs) {
		if indexedAttribute(name) {
			list = append(list, derivedRow{"attribute", []any{tree.DerivedID(b.ID, "attr", name), name, b.Attrs[name]}})
		}
	}
	switch b.Kind {
	case tree.Embed:
		for _, s := range markup.References(b) {
			list = append(list, reference(b, s, "query_embed"))
		}
		return list
	case tree.Code, tree.Math, tree.HTML:
		return list
	}
	if b.Container() {
		return list
	}
	defs := map[string]bool{}
	for i, s := range markup.Spans(b.Text) {
		kind := "textmark " + s.Kind
		switch s.Kind {
		case "":
			continue
		case "img":
			kind = "img"
		case "block-ref":
			if !defs[s.Target] { // one row for each target, however often it is referred to
				list = append(list, reference(b, s, "textmark"))
			}
			defs[s.Target] = true
		}
		number := strconv.Itoa(i)
		list = append(list, derivedRow{"span", []any{tree.DerivedID(b.ID, s.Kind, number), s.Content, s.Markdown, kind}})
		if !strings.HasPrefix(s.Target, "assets/") {
			continue
		}
		dir, name := path.Split(s.Target)
		if s.Kind == "file-annotation-ref" { // assets/<name>/<id>
			list = append(list, derivedRow{"annotation", []any{tree.DerivedID(b.ID, "annotation", number), path.Clean(dir), name, s.Content}})
			continue
		}
		list = append(list, derivedRow{"asset", []any{tree.DerivedID(b.ID, "asset", number), s.Target, name, s.Title}})
	}
	return list
}

// reference returns the row of a reference in b; kind says what refers.
func reference(b *tree.Block, s markup.Span, kind string) derivedRow {
	return derivedRow{"ref", []any{tree.DerivedID(b.ID, s.Target, s.Markdown), s.Target, s.Content, s.Markdown, kind}}
}

// blockTags returns the tags of a leaf, and for a document those of its attribute tags.
func blockTags(b *tree.Block) string {
	switch b.Kind {
	case tree.Doc:
		var tags []string
		for tag := range strings.SplitSeq(b.Attrs["tags"], ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				tags = append(tags, "#"+tag+"#")
			}
		}
		return strings.Join(tags, " ")
	case tree.Paragraph, tree.Heading, tree.Table:
		return strings.Join(markup.Tags(b.Text), " ")
	}
	return ""
}

// indexedAttribute reports whether an attribute has a row in the table attribute.
func indexedAttribute(name string) bool {
	switch name {
	case "id", "updated", "type", "title", "fold":
		return false
	}
	return true
}
