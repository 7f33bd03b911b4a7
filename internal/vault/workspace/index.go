package workspace

import (
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"
)

// indexColumns are the columns of the full text index. Two spaces follow each text, so that a word of one or two
// characters at its end begins a trigram too.
const indexColumns = `CASE name WHEN '' THEN '' ELSE name || '  ' END, CASE alias WHEN '' THEN '' ELSE alias || '  ' END,
	CASE memo WHEN '' THEN '' ELSE memo || '  ' END, CASE tag WHEN '' THEN '' ELSE tag || '  ' END,
	CASE content WHEN '' THEN '' ELSE content || '  ' END`

// inOpen restricts a condition to nodes of open notebooks. The index has no others, since users' SQL reads it directly.
const inOpen = ` AND (SELECT closed FROM document JOIN notebook ON notebook.id = document.box WHERE document.n = node.doc) = 0`

// inNotebook is the condition for the nodes of one notebook.
const inNotebook = "doc IN (SELECT n FROM document WHERE box = ?)"

// index adds the nodes that match a condition to the full text index, unless their notebook is closed.
func (tx *Tx) index(condition string, arg any) {
	tx.exec("INSERT INTO blocks_fts (rowid, name, alias, memo, tag, content) SELECT n, "+indexColumns+
		" FROM node WHERE "+condition+inOpen, arg)
}

// unindex removes the nodes that match a condition from the full text index. Their rows must have the texts with which
// they were added, since the index does not store them. Nodes of a closed notebook are not in the index.
func (tx *Tx) unindex(condition string, arg any) {
	tx.exec("INSERT INTO blocks_fts (blocks_fts, rowid, name, alias, memo, tag, content) SELECT 'delete', n, "+indexColumns+
		" FROM node WHERE "+condition+inOpen, arg)
}

// indexChange is how a flush changes the full text index for one node: the texts to remove and those to add, nil for
// none.
type indexChange struct{ removed, added *[5]string }

// indexedTexts returns the texts of a node as the index has them, nil if its notebook is closed.
func (tx *Tx) indexedTexts(n int64) (texts *[5]string) {
	tx.query(func(s *sqlite.Stmt) bool {
		texts = &[5]string{}
		for i := range texts {
			texts[i] = s.ColumnText(i)
		}
		return false
	}, "SELECT name, alias, memo, tag, content FROM node WHERE n = ?"+inOpen, n)
	return texts
}

// open reports whether the notebook of a document is open.
func (tx *Tx) open(doc int64) bool {
	_, found := tx.number(`SELECT 1 FROM document JOIN notebook ON notebook.id = document.box
		WHERE document.n = ? AND notebook.closed = 0`, doc)
	return found
}

// writeIndex applies the index changes of a flush, one row at a time in order. The index gathers such rows in memory; a
// statement for several rows would make it write a segment each time.
func (tx *Tx) writeIndex(changes map[int64]indexChange) {
	for _, n := range slices.Sorted(maps.Keys(changes)) {
		if removed := changes[n].removed; removed != nil {
			tx.exec(`INSERT INTO blocks_fts (blocks_fts, rowid, name, alias, memo, tag, content)
				VALUES ('delete', ?, ?, ?, ?, ?, ?)`, indexArgs(n, removed)...)
		}
		if added := changes[n].added; added != nil {
			tx.exec("INSERT INTO blocks_fts (rowid, name, alias, memo, tag, content) VALUES (?, ?, ?, ?, ?, ?)",
				indexArgs(n, added)...)
		}
	}
}

// indexArgs returns the values of an index row, in the form of indexColumns.
func indexArgs(n int64, texts *[5]string) []any {
	args := []any{n}
	for _, text := range texts {
		if text != "" {
			text += "  "
		}
		args = append(args, text)
	}
	return args
}
