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

// Attributes of blocks.
const (
	// databasesAttr lists the databases a block is a row of, with commas.
	databasesAttr = "custom-avs"
	// shownView is the view that a block of a database shows.
	shownView = "custom-sy-av-view"
)

// addMembership notes in a block that it is a row of a database.
func addMembership(b *tree.Block, database string) {
	if ids := membershipsOf(b); !slices.Contains(ids, database) {
		b.Attrs[databasesAttr] = strings.Join(append(ids, database), ",")
	}
}

// removeMembership takes back what enroll noted.
func removeMembership(b *tree.Block, database string) {
	ids := slices.DeleteFunc(membershipsOf(b), func(id string) bool { return id == database })
	if len(ids) == 0 {
		delete(b.Attrs, databasesAttr)
		return
	}
	b.Attrs[databasesAttr] = strings.Join(ids, ",")
}

// removeErasedRows removes the rows of blocks that are gone from the databases they were in.
func removeErasedRows(tx *workspace.Tx, erased map[string]map[string]string) {
	s := newDatabases(tx)
	for _, id := range slices.Sorted(maps.Keys(erased)) {
		if erased[id][databasesAttr] == "" || tx.Known(id) { // it was put back
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

// refreshBoundRows gives bound rows the text their blocks have now. A row whose block is in a closed notebook keeps the
// text it had.
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
			fresh, block := *v, *v.Block
			block.Content, fresh.Block = row.Text(1), &block
			c.set(&fresh)
		}
		return true
	}, `SELECT id, content, updated FROM blocks WHERE id IN (SELECT value FROM json_each(?))`, string(api.MustJSON(ids)))
}

// shownBlock is a block that shows a database.
type shownBlock struct {
	id, database, box, hpath, ial string
}

// databaseBlocks returns the blocks of open notebooks that show a database, oldest first: all of them, or those of
// one database.
func databaseBlocks(tx *workspace.Tx, database string) []shownBlock {
	tx.Flush()
	var found []shownBlock
	tx.Rows(func(row workspace.Row) bool {
		b := shownBlock{id: row.Text(0), database: databaseOf(row.Text(1)), box: row.Text(2), hpath: row.Text(3), ial: row.Text(4)}
		if b.database != "" && (database == "" || b.database == database) {
			found = append(found, b)
		}
		return true
	}, selectDatabaseBlocks)
	return found
}

// selectDatabaseBlocks reads through an index that holds these blocks alone: nearly every call on databases runs it.
const selectDatabaseBlocks = `SELECT id, markdown, box, hpath, ial FROM blocks WHERE type = 'av' ORDER BY id`

// viewOf returns the view that a block of a database shows, "" when it shows the current one or is not among blocks.
func viewOf(blocks []shownBlock, block string) string {
	for _, b := range blocks {
		if b.id == block {
			return tree.ParseIAL(b.ial)[shownView]
		}
	}
	return ""
}

// databaseOf returns the database that the Markdown of a block names.
func databaseOf(markdown string) string {
	_, rest, _ := strings.Cut(markdown, `data-av-id="`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// textOf returns the text a row bound to b shows.
func textOf(b *tree.Block) string { return markup.Content(b) }
