package sqlguard_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqlguard"
	"collie/internal/sqliteconn"
)

const (
	open   = "20260101000000-aaaaaaa"
	open2  = "20260101000000-bbbbbbb"
	hidden = "20260101000000-hhhhhhh"
	canary = "CANARY"
)

// create makes the tables as a real kernel defines them, except for the tokenizer.
const create = `
CREATE TABLE blocks (id, parent_id, root_id, hash, box, path, hpath, name, alias, memo, tag, content, fcontent, markdown, length, type, subtype, ial, sort, created, updated);
CREATE VIRTUAL TABLE blocks_fts USING fts5(id UNINDEXED, parent_id UNINDEXED, root_id UNINDEXED, hash UNINDEXED, box UNINDEXED, path UNINDEXED, hpath UNINDEXED, name, alias, memo, tag, content, fcontent, markdown UNINDEXED, length UNINDEXED, type UNINDEXED, subtype UNINDEXED, ial, sort UNINDEXED, created UNINDEXED, updated UNINDEXED, content='blocks', content_rowid='rowid');
CREATE TABLE attributes (id, name, value, type, block_id, root_id, box, path);
CREATE TABLE refs (id, def_block_id, def_block_parent_id, def_block_root_id, def_block_path, block_id, root_id, box, path, content, markdown, type);
CREATE TABLE spans (id, block_id, root_id, box, path, content, markdown, type, ial);
CREATE TABLE assets (id, block_id, root_id, box, docpath, path, name, title, hash);
CREATE TABLE file_annotation_refs (id, file_path, annotation_id, block_id, root_id, box, path, content, type);
CREATE TABLE stat (key, value);
CREATE TABLE block_embeddings (id TEXT PRIMARY KEY, root_id TEXT, box TEXT, path TEXT, embedding BLOB);
CREATE INDEX idx_blocks_id ON blocks(id);
CREATE INDEX idx_blocks_root_id ON blocks(root_id);
INSERT INTO stat VALUES ('siyuan_database_ver', 'CANARY-stat');
`

// widths has the number of columns of each table, and the index of its column box.
var widths = map[string][2]int{
	"blocks": {21, 4}, "attributes": {8, 6}, "refs": {12, 7}, "spans": {9, 3}, "assets": {9, 3}, "file_annotation_refs": {9, 5},
}

// openDatabase returns a kernel's database with rows of two readable notebooks and, if withHidden, of a
// hidden one. The texts of the hidden rows are canaries.
func openDatabase(t testing.TB, withHidden bool) *sqlite.Conn {
	t.Helper()
	conn, err := sqliteconn.Open(":memory:", sqlite.OpenReadWrite, sqlite.OpenMemory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sqliteconn.Close(conn) })
	var script strings.Builder
	script.WriteString(create)
	for _, table := range slices.Sorted(func(yield func(string) bool) {
		for name := range widths {
			if !yield(name) {
				return
			}
		}
	}) {
		for i := range 9 {
			box, word := []string{open, hidden, open2}[i%3], "text"
			if box == hidden {
				if word = canary; !withHidden {
					continue
				}
			}
			values := make([]string, widths[table][0])
			for c := range values {
				values[c] = fmt.Sprintf("'%s %s-%d'", word, table, i+c%2)
			}
			values[0] = fmt.Sprintf("'%s-%d'", word, i) // ids are the same in all tables
			values[widths[table][1]] = "'" + box + "'"
			switch table {
			case "blocks":
				values[2] = values[0]
				values[15] = "'d'"
				values[14] = fmt.Sprint(i)
				if box == hidden {
					values[14] = "-9223372036854775808" // abs() of it is an error
				}
			case "refs": // one of the readable blocks refers to a hidden one
				values[3] = fmt.Sprintf("'text-%d'", i)
				if i == 3 || box == hidden {
					values[1], values[2], values[3], values[4] = "'CANARY-1'", "'CANARY'", "'CANARY-1'", "'/CANARY.sy'"
				}
				if i == 3 && !withHidden {
					continue
				}
			}
			fmt.Fprintf(&script, "INSERT INTO %s VALUES (%s);\n", table, strings.Join(values, ", "))
		}
	}
	// The tags of documents have no box. The notebook of a tag without a document is unknown.
	script.WriteString("INSERT INTO spans VALUES ('tag-0', 'text-0', 'text-0', '', '/x.sy', 'tag', '#tag#', 'tag', '');")
	if withHidden {
		script.WriteString("INSERT INTO spans VALUES ('CANARY-t', 'CANARY-1', 'CANARY-1', '', '/CANARY.sy', 'CANARY', '#CANARY#', 'tag', '');" +
			"INSERT INTO spans VALUES ('CANARY-l', 'CANARY-x', 'CANARY-x', '', '/CANARY.sy', 'CANARY', '#CANARY#', 'tag', '');")
	}
	script.WriteString("INSERT INTO blocks_fts(blocks_fts) VALUES('rebuild');")
	if err := sqlitex.ExecuteScript(conn, script.String(), nil); err != nil {
		t.Fatal(err)
	}
	err = conn.CreateFunction("regexp", &sqlite.FunctionImpl{NArgs: 2, Scalar: func(_ sqlite.Context, a []sqlite.Value) (sqlite.Value, error) {
		if strings.Contains(a[1].Text(), a[0].Text()) {
			return sqlite.IntegerValue(1), nil
		}
		return sqlite.IntegerValue(0), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// runSQL returns rows as text, columns in order. Half a minute is more than anything here takes.
func runSQL(t testing.TB, conn *sqlite.Conn, sql string) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn.SetInterrupt(ctx.Done())
	defer conn.SetInterrupt(nil)
	var rows []string
	err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		var row []string
		for i := range stmt.ColumnCount() {
			row = append(row, stmt.ColumnName(i)+"="+stmt.ColumnText(i))
		}
		rows = append(rows, strings.Join(row, "|"))
		return nil
	}})
	return counted(t, sql, rows), err
}

// counted returns rows without the column that counts them, and checks the count.
func counted(t testing.TB, sql string, rows []string) []string {
	t.Helper()
	var out []string
	for _, row := range rows {
		begin, rest, found := strings.Cut(row, "|")
		n, isCount := strings.CutPrefix(begin, sqlguard.Count+"=")
		switch {
		case !isCount || !found:
			return rows // the statement is not in the form in which it is sent
		case n == "0" && len(rows) == 1:
		case n != fmt.Sprint(len(rows)):
			t.Errorf("%s: %d rows, counted as %s", sql, len(rows), n)
		default:
			out = append(out, rest)
		}
	}
	return out
}

// scopedSQL parses and narrows a statement to the notebooks that may be read.
func scopedSQL(sql string) (string, error) {
	s, err := sqlguard.Parse(sql)
	if err != nil {
		return "", err
	}
	return s.Scoped([]string{open, open2}, 1000)
}

func mustBeRefused(t *testing.T, err error) *sqlguard.Refused {
	t.Helper()
	r, ok := errors.AsType[*sqlguard.Refused](err)
	if !ok {
		t.Fatalf("got %v (%T), want a *Refused", err, err)
	}
	return r
}

// leaks reports whether anything of the hidden notebook is in a text.
func leaks(text string) bool {
	return strings.Contains(strings.ToUpper(text), canary) || strings.Contains(text, hidden)
}
