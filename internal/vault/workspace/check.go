package workspace

import (
	"context"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file checks the whole file for inconsistencies.

// Problem is an inconsistency in the file.
type Problem struct {
	// Subject is the id of a block or document, a path, or a table.
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

func (p Problem) String() string { return p.Subject + ": " + p.Text }

// maxProblems bounds the problems that Check collects; with more, the file as a whole is broken.
const maxProblems = 1000

// Check checks all invariants of the file in one snapshot: SQLite finds its pages sound, trees are trees, the full text
// index and the derived tables match the blocks, and files match their hashes. A sound file has no problems. progress,
// which may be nil, gets the number of documents checked. Check changes nothing and may run while others write.
func (w *Workspace) Check(ctx context.Context, progress func(done, total int)) ([]Problem, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	c := &checker{progress: progress}
	err := w.View(ctx, func(tx *Tx) error {
		c.tx = tx
		c.pages()
		c.findOrphans()
		c.fullText()
		c.documents()
		c.files()
		return nil
	})
	return c.problems, err
}

type checker struct {
	tx       *Tx
	progress func(done, total int)
	problems []Problem
}

func (c *checker) report(subject, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{subject, fmt.Sprintf(format, args...)})
	}
}

// reportRows reports a problem for each row of a statement. The first column is the subject; a second one, if any, goes
// into text.
func (c *checker) reportRows(text, statement string) {
	c.tx.query(func(s *sqlite.Stmt) bool {
		detail := text
		if s.ColumnCount() > 1 {
			detail = fmt.Sprintf(text, s.ColumnText(1))
		}
		c.report(s.ColumnText(0), "%s", detail)
		return len(c.problems) < maxProblems
	}, statement)
}

// pages has SQLite check its pages and indexes.
func (c *checker) pages() {
	// The connection may have cached segments of the full text index from an earlier transaction. A search reloads
	// them; the integrity check itself does not.
	c.tx.exec("SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'xyz' LIMIT 1")
	c.tx.query(func(s *sqlite.Stmt) bool {
		if text := s.ColumnText(0); text != "ok" {
			c.report("database", "%s", text)
		}
		return true
	}, "PRAGMA integrity_check(100)")
}

// findOrphans reports rows that refer to missing rows.
func (c *checker) findOrphans() {
	c.reportRows("the document lies in notebook %s, which is not there", `SELECT id, box FROM document WHERE box NOT IN (SELECT id FROM notebook)`)
	c.reportRows("the document lies below one that is not in its notebook", `SELECT d.id FROM document AS d
		WHERE d.parent <> 0 AND NOT EXISTS (SELECT 1 FROM document AS up WHERE up.n = d.parent AND up.box = d.box)`)
	c.reportRows("the document has %s roots, want 1", `SELECT d.id, (SELECT count(*) FROM node WHERE doc = d.n AND parent = 0) AS roots FROM document AS d
		WHERE roots <> 1 OR NOT EXISTS (SELECT 1 FROM node WHERE id = d.id AND doc = d.n AND parent = 0 AND type = 'd')`)
	c.reportRows("the block belongs to no document", `SELECT id FROM node WHERE doc NOT IN (SELECT n FROM document)`)
	c.reportRows("the block lies in none of its document", `SELECT b.id FROM node AS b
		WHERE b.parent <> 0 AND NOT EXISTS (SELECT 1 FROM node AS up WHERE up.n = b.parent AND up.doc = b.doc)`)
	c.reportRows("another block has the same place", `SELECT max(id) FROM node GROUP BY doc, parent, pos HAVING count(*) > 1`)
	c.reportRows("its size is stored as %s, which is not that of its blocks", `SELECT d.id, d.size FROM document AS d
		WHERE d.size <> (SELECT coalesce(sum(`+nodeSize+`), 0) FROM node WHERE node.doc = d.n)`)
	for _, table := range derivedTables {
		c.reportRows("the row belongs to no block", `SELECT '`+table+` ' || id FROM `+table+` WHERE node NOT IN (SELECT n FROM node)`)
	}
}

// fullText checks that the full text index has exactly the blocks of open notebooks. documents checks their texts.
func (c *checker) fullText() {
	c.reportRows("the block is not in the full text index", `SELECT id FROM open_row WHERE n NOT IN (SELECT id FROM blocks_fts_docsize)`)
	c.reportRows("the full text index holds a block that is not there, or that is closed", `SELECT 'row ' || id FROM blocks_fts_docsize
		WHERE id NOT IN (SELECT n FROM open_row)`)
}

// documents reads every tree and compares stored data with what is derived from it.
func (c *checker) documents() {
	var numbers []int64
	c.tx.query(func(s *sqlite.Stmt) bool {
		numbers = append(numbers, s.ColumnInt64(0))
		return true
	}, "SELECT n FROM document ORDER BY n")
	for i, n := range numbers {
		if c.tx.err != nil || len(c.problems) >= maxProblems {
			return
		}
		c.document(n)
		c.progress(i+1, len(numbers))
	}
}

// document checks the stored paths of a document and all its blocks. It reads the document from the file, not from the cache.
func (c *checker) document(n int64) {
	d := c.tx.docByN(n)
	if d == nil {
		return // reported by findOrphans
	}
	row := storedRow(d)
	for up, steps := d, 0; up != nil; up, steps = up.Parent, steps+1 {
		if steps > 1000 {
			c.report(d.ID(), "the document lies below itself")
			return
		}
	}
	if row.path != d.Path() || row.hpath != d.HPath() {
		c.report(d.ID(), "its paths are stored as %s and %s, they are %s and %s", row.path, row.hpath, d.Path(), d.HPath())
	}
	rows := c.tx.readNodes(n) // bypassing the cache
	if c.tx.err != nil {
		return
	}
	row.rows, d.Loaded, d.Root.Children = rows, true, nil
	c.tx.build(d, rows)
	d.Root.Walk(c.block)
	delete(c.tx.docs, n) // frees the tree
	d.Root.Walk(func(b *tree.Block) { delete(c.tx.blocks, b.ID) })
}

// block compares the stored row of a block with what is derived from the block.
func (c *checker) block(b *tree.Block) {
	r := b.Stored.(*nodeRow)
	switch {
	case !tree.ValidID(b.ID) && b.Kind != tree.Doc:
		c.report(b.ID, "the id is malformed")
	case b.Attrs["id"] != b.ID:
		c.report(b.ID, "its attribute id is %q", b.Attrs["id"])
	case tree.NodeType(b.Kind) == "":
		c.report(b.ID, "its type %q is none", b.Kind)
	case b.Parent != nil && !b.Parent.Container():
		c.report(b.ID, "it lies in a leaf")
	}
	if above := b.Above(); above != nil && above.ID != r.above {
		c.report(b.ID, "it lies under %s, stored is %q", above.ID, r.above)
	}
	want := derive(b)
	c.tx.query(func(s *sqlite.Stmt) bool {
		got := derivedColumns{
			subtype: s.ColumnText(0), ial: s.ColumnText(1), updated: s.ColumnText(2), first: s.ColumnText(8),
			markdown: s.ColumnText(9), hash: s.ColumnText(10), length: s.ColumnInt(11), sort: s.ColumnInt(12),
		}
		for i := range got.indexed {
			got.indexed[i] = s.ColumnText(3 + i)
		}
		if got != want {
			c.report(b.ID, "its row is stale: %s", difference(got, want))
		}
		return false
	}, `SELECT subtype, ial, updated, name, alias, memo, tag, content, fcontent, markdown, hash, length, sort
		FROM node WHERE n = ?`, r.n)
	counts := map[string]int{}
	for _, f := range derivedRows(b) {
		counts[f.table]++
	}
	for _, table := range derivedTables {
		if n, _ := c.tx.number("SELECT count(*) FROM "+table+" WHERE node = ?", r.n); int(n) != counts[table] {
			c.report(b.ID, "%d rows of %s are stored, %d follow from it", n, table, counts[table])
		}
	}
}

// difference describes how derived columns differ from those that are wanted, "" if they do not.
func difference(got, want derivedColumns) string {
	texts := func(d derivedColumns) []string {
		return append([]string{d.subtype, d.ial, d.updated, d.first, d.markdown, d.hash, fmt.Sprint(d.length, d.sort)}, d.indexed[:]...)
	}
	names := []string{"subtype", "ial", "updated", "fcontent", "markdown", "hash", "length and sort", "name", "alias", "memo", "tag", "content"}
	a, b := texts(got), texts(want)
	var differences []string
	for i, name := range names {
		if a[i] != b[i] {
			differences = append(differences, fmt.Sprintf("%s is %.80q, want %.80q", name, a[i], b[i]))
		}
	}
	return strings.Join(differences, "; ")
}

// files reports files in missing folders, and those that do not match their size or hash.
func (c *checker) files() {
	c.reportRows("the folder it lies in is not there", `SELECT path FROM file WHERE parent <> '/' AND parent NOT IN (SELECT path FROM file WHERE dir = 1)`)
	c.reportRows("its size is stored as %s", `SELECT path, size FROM file WHERE dir = 0 AND size <> length(data)`)
	c.tx.query(func(s *sqlite.Stmt) bool {
		data := make([]byte, s.ColumnLen(2))
		s.ColumnBytes(2, data)
		if hashOf(data) != s.ColumnText(1) {
			c.report(s.ColumnText(0), "it is not what its hash says")
		}
		return len(c.problems) < maxProblems
	}, "SELECT path, hash, data FROM file WHERE dir = 0")
}
