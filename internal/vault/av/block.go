package av

import (
	"maps"
	"slices"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file records in blocks which databases they are rows of, and finds the blocks that show a database.

// Attributes of blocks.
const (
	// databasesAttr has the ids of the databases that a block is a row in, separated by commas.
	databasesAttr = "custom-avs"
	// shownView has the id of the view that a database block shows.
	shownView = "custom-sy-av-view"
)

// addMembership records in a block that it is a row in a database.
func addMembership(b *tree.Block, database string) {
	if ids := membershipsOf(b); !slices.Contains(ids, database) {
		b.Attrs[databasesAttr] = strings.Join(append(ids, database), ",")
	}
}

// removeMembership reverses addMembership.
func removeMembership(b *tree.Block, database string) {
	ids := slices.DeleteFunc(membershipsOf(b), func(id string) bool { return id == database })
	if len(ids) == 0 {
		delete(b.Attrs, databasesAttr)
		return
	}
	b.Attrs[databasesAttr] = strings.Join(ids, ",")
}

// removeErasedRows removes rows bound to blocks that were erased. erased has the attributes of these blocks by id.
func removeErasedRows(tx *workspace.Tx, erased map[string]map[string]string) {
	s := newDatabases(tx)
	for _, id := range slices.Sorted(maps.Keys(erased)) {
		if erased[id][databasesAttr] == "" || tx.BlockExists(id) { // it exists again
			continue
		}
		for _, database := range membershipsOf(&tree.Block{Attrs: erased[id]}) {
			if db := s.database(database); db != nil {
				if row := db.rowOf(id); row != "" {
					s.removeRows(db, []string{row})
				}
			}
		}
	}
	s.save()
}

func membershipsOf(b *tree.Block) []string {
	return strings.FieldsFunc(b.Attrs[databasesAttr], func(r rune) bool { return r == ',' })
}

// refreshBoundRows updates the text of bound rows from their blocks. If the block is in a closed notebook, the row
// keeps its text.
func (db *database) refreshBoundRows(tx *workspace.Tx) {
	bound := map[string]*cell{}
	var ids []string
	for _, c := range db.primary().cells {
		if id := c.block(); id != "" && !c.get().IsDetached && c.get().Block != nil {
			bound[id], ids = c, append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	tx.Flush()
	db.changes = make(map[string]time.Time, len(ids))
	tx.Rows(func(row workspace.Row) bool {
		c := bound[row.Text(0)]
		db.changes[row.Text(0)] = tree.IDTime(row.Text(2))
		if v := c.get(); v.Block.Content != row.Text(1) {
			updated, block := *v, *v.Block
			block.Content, updated.Block = row.Text(1), &block
			c.set(&updated)
		}
		return true
	}, `SELECT id, content, updated FROM blocks WHERE id IN (SELECT value FROM json_each(?))`, string(api.MustJSON(ids)))
}

// shownBlock is a block that shows a database.
type shownBlock struct {
	id, database, box, hpath, ial string
}

// databaseBlocks returns the blocks of open notebooks that show a database, oldest first. If database is not "", it
// returns only those that show that one.
func databaseBlocks(tx *workspace.Tx, database string) []shownBlock {
	tx.Flush()
	var list []shownBlock
	tx.Rows(func(row workspace.Row) bool {
		b := shownBlock{id: row.Text(0), database: databaseOf(row.Text(1)), box: row.Text(2), hpath: row.Text(3), ial: row.Text(4)}
		if b.database != "" && (database == "" || b.database == database) {
			list = append(list, b)
		}
		return true
	}, selectDatabaseBlocks)
	return list
}

// selectDatabaseBlocks selects all blocks that show a database. An index has only these blocks, since nearly every call
// for databases runs this query.
const selectDatabaseBlocks = `SELECT id, markdown, box, hpath, ial FROM blocks WHERE type = 'av' ORDER BY id`

// viewOf returns the view that a database block shows, "" if it shows the current one or is not in blocks.
func viewOf(blocks []shownBlock, block string) string {
	for _, b := range blocks {
		if b.id == block {
			return tree.ParseIAL(b.ial)[shownView]
		}
	}
	return ""
}

// databaseOf returns the id of the database in the Markdown of a block, "" for none.
func databaseOf(markdown string) string {
	_, rest, _ := strings.Cut(markdown, `data-av-id="`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// rowText returns the text of a row that is bound to b.
func rowText(b *tree.Block) string { return markup.Content(b) }
