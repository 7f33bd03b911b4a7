package folder

import (
	"math/rand/v2"
	"slices"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// assignIDs assigns all ids. Pages that were imported before keep the ids of their documents. An id that the vault or
// another page uses is replaced by a new one.
func (im *importer) assignIDs(tx *workspace.Tx) {
	seen := map[string]bool{}
	var ids []string
	for _, pg := range im.pages {
		if pg.front.id != "" {
			ids = append(ids, pg.front.id)
		}
	}
	im.memory.findExisting(tx, ids)
	for _, pg := range im.pages {
		ids = append(ids, pg.definedIDs...)
	}
	for _, pl := range im.plans {
		if pl.exported != nil {
			ids = append(ids, pl.exported.ID)
		}
	}
	owners := im.documentsOfIDs(tx, ids)
	assign := func(pg *page, id, what string) string {
		owner, inVault := owners[id]
		switch {
		case inVault && (owner != pg.id || im.o.Copy):
			if im.renamed[id] == "" {
				im.renamed[id] = im.newID(id[:14])
				im.report.problem(pg.path(), 0, codeIDTaken, id, "the vault has this id already: "+what+" got a new one")
			}
			if !seen[im.renamed[id]] {
				seen[im.renamed[id]] = true
				return im.renamed[id]
			}
		case !seen[id]:
			seen[id] = true
			return id
		}
		newID := im.newID(id[:14])
		pg.renamed[id] = newID
		im.report.problem(pg.path(), 0, codeIDTaken, id, "another block of the folder has this id: "+what+" got a new one")
		return newID
	}
	for _, pl := range im.plans {
		im.assignNotebook(tx, pl, seen)
	}
	for _, pg := range im.pages {
		pg.renamed = map[string]string{}
		_, exists := im.memory.inVault[pg.front.id]
		switch {
		case pg.plan.page == pg:
			pg.id = pg.plan.id
		case pg.row != nil && pg.front.id == "":
			pg.id = pg.row.Target
		case pg.front.id != "" && exists && !im.o.Copy && !seen[pg.front.id]:
			pg.id = pg.front.id
			seen[pg.id] = true
		case pg.front.id != "":
			pg.id = assign(pg, pg.front.id, "the document")
		default:
			created, _ := pg.stamps()
			pg.id = im.newID(created)
		}
	}
	for _, pg := range im.pages {
		if pg.row != nil {
			pg.restoreIDs(pg.row.Names)
		}
		defined := slices.Clone(pg.definedIDs)
		slices.Sort(defined)
		for _, id := range slices.Compact(defined) {
			assign(pg, id, "the block")
		}
	}
}

// assignNotebook sets the id of an exported notebook: that of the same notebook in the vault, or of a new one.
func (im *importer) assignNotebook(tx *workspace.Tx, pl *notebookPlan, seen map[string]bool) {
	if pl.exported == nil || !tree.ValidID(pl.exported.ID) {
		return
	}
	pl.id = pl.exported.ID
	box := tx.Notebook(pl.id)
	switch {
	case box != nil && !im.o.Copy:
		pl.inVault = true
	case box != nil || tx.BlockExists(pl.id):
		im.renamed[pl.id] = im.newID(pl.id[:14])
		im.report.problem(pl.exported.Folder, 0, codeIDTaken, pl.id, "the vault has this notebook already: the new one got another id")
		pl.id = im.renamed[pl.id]
	}
	seen[pl.id] = true
}

// documentsOfIDs looks up which of ids the vault has. It returns the id of the document that contains each.
func (im *importer) documentsOfIDs(tx *workspace.Tx, ids []string) map[string]string {
	documents := map[string]string{}
	for chunk := range slices.Chunk(ids, 5000) {
		tx.Rows(func(row workspace.Row) bool {
			documents[row.Text(0)] = row.Text(1)
			return true
		}, `SELECT node.id, document.id FROM node JOIN document ON document.n = node.doc
			WHERE node.id IN (SELECT value FROM json_each(?1))
			UNION SELECT id, id FROM notebook WHERE id IN (SELECT value FROM json_each(?1))`, mustJSON(chunk))
	}
	return documents
}

// newID returns an unused id with the given time.
func (im *importer) newID(stamp string) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	for {
		tail := make([]byte, 7)
		for i := range tail {
			tail[i] = digits[rand.IntN(len(digits))]
		}
		if id := stamp + "-" + string(tail); !im.newIDs[id] {
			im.newIDs[id] = true
			return id
		}
	}
}
