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
	a := idAssigner{im: im, owners: im.documentsOfIDs(tx, im.requestedIDs(tx)), seen: map[string]bool{}}
	for _, pl := range im.plans {
		im.assignNotebook(tx, pl, a.seen)
	}
	for _, pg := range im.pages {
		pg.renamed = map[string]string{}
		pg.id = a.pageID(pg)
	}
	for _, pg := range im.pages {
		if pg.row != nil && pg.row.Target == pg.id {
			pg.restoreIDs(pg.row.Names)
		}
		defined := slices.Clone(pg.definedIDs)
		slices.Sort(defined)
		for _, id := range slices.Compact(defined) {
			a.assign(pg, id, "the block")
		}
	}
}

// requestedIDs returns the ids that pages and plans ask for, and records which documents among them the vault has.
func (im *importer) requestedIDs(tx *workspace.Tx) []string {
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
	return ids
}

// idAssigner assigns ids to pages and blocks.
type idAssigner struct {
	im     *importer
	owners map[string]string // documents of the ids that the vault has
	seen   map[string]bool   // ids assigned in this import
}

// pageID returns the id for a page.
func (a *idAssigner) pageID(pg *page) string {
	requested := pg.front.id
	_, exists := a.im.memory.inVault[requested]
	switch {
	case pg.plan.page == pg:
		return pg.plan.id
	case pg.row != nil && requested == "" && !(a.im.sync != nil && a.im.sync.leftNotebook(pg.row.Target) && a.im.isRestored(pg)):
		return pg.row.Target
	case requested != "" && exists && !a.im.o.Copy && !a.seen[requested]:
		a.seen[requested] = true
		return requested
	case requested != "":
		return a.assign(pg, requested, "the document")
	}
	created, _ := pg.stamps()
	return a.im.newID(created)
}

// assign returns id if it is free, else a new id that replaces it in the page. what names the thing with the id in a
// problem.
func (a *idAssigner) assign(pg *page, id, what string) string {
	im := a.im
	owner, inVault := a.owners[id]
	switch {
	case inVault && (owner != pg.id || im.o.Copy):
		if im.renamed[id] == "" {
			im.renamed[id] = im.newID(id[:14])
			im.report.problem(pg.path(), 0, codeIDTaken, id, "the vault has this id already: "+what+" got a new one")
		}
		if !a.seen[im.renamed[id]] {
			a.seen[im.renamed[id]] = true
			return im.renamed[id]
		}
	case !a.seen[id]:
		a.seen[id] = true
		return id
	}
	newID := im.newID(id[:14])
	pg.renamed[id] = newID
	im.report.problem(pg.path(), 0, codeIDTaken, id, "another block of the folder has this id: "+what+" got a new one")
	return newID
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

// newID returns an id with the given time that this import has not used yet.
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
