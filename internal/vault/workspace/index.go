package workspace

import "zombiezen.com/go/sqlite"

// indexColumns are the columns of the full text index as it holds them: with two spaces behind each text, so that a
// word of one or two characters at its end is the beginning of a trigram.
const indexColumns = `CASE name WHEN '' THEN '' ELSE name || '  ' END, CASE alias WHEN '' THEN '' ELSE alias || '  ' END,
	CASE memo WHEN '' THEN '' ELSE memo || '  ' END, CASE tag WHEN '' THEN '' ELSE tag || '  ' END,
	CASE content WHEN '' THEN '' ELSE content || '  ' END`

// inOpen narrows a condition to the nodes of open notebooks. The index holds no others: SQL reads it as it is.
const inOpen = ` AND (SELECT closed FROM document JOIN notebook ON notebook.id = document.box WHERE document.n = node.doc) = 0`

// inNotebook is the condition for the nodes of one notebook.
const inNotebook = "doc IN (SELECT n FROM document WHERE box = ?)"

// index adds the nodes of a condition to the full text index, unless their notebook is closed.
func (tx *state) index(condition string, arg any) {
	tx.exec("INSERT INTO blocks_fts (rowid, name, alias, memo, tag, content) SELECT n, "+indexColumns+
		" FROM node WHERE "+condition+inOpen, arg)
}

// unindex takes the nodes of a condition out of the full text index. They must be as they were when they were added:
// the index itself does not keep the texts. Those of a closed notebook are not in it.
func (tx *state) unindex(condition string, arg any) {
	tx.exec("INSERT INTO blocks_fts (blocks_fts, rowid, name, alias, memo, tag, content) SELECT 'delete', n, "+indexColumns+
		" FROM node WHERE "+condition+inOpen, arg)
}

// indexedAs reports whether the index holds just these texts of a node.
func (tx *state) indexedAs(n int64, texts [5]string) (same bool) {
	tx.query(func(s *sqlite.Stmt) bool {
		same = true
		for i, text := range texts {
			same = same && s.ColumnText(i) == text
		}
		return false
	}, "SELECT name, alias, memo, tag, content FROM node WHERE n = ?", n)
	return same
}
