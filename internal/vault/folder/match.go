package folder

import (
	"path"
	"slices"
	"strings"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// match assigns rows of earlier imports to pages: by id, by path, or by the content of a file that is gone.
func (im *importer) match() {
	m := im.memory
	claimed := map[string]bool{}
	claim := func(pg *page, row *workspace.Imported) bool {
		if row == nil || row.Kind != pageKind || claimed[row.Target] {
			return false
		}
		pg.row = row
		if im.sync != nil && tidied(row.Title) == pg.title {
			pg.title = row.Title // as the document has it
		}
		claimed[row.Target] = true
		return true
	}
	for _, pg := range im.pages {
		if pg.front.id != "" {
			claim(pg, m.byTarget[pg.front.id])
		} else if claim(pg, m.rows[pg.rowPath()]) {
			m.present[pg.rowPath()] = true
		}
		if pg.row != nil && m.rows[pg.row.Path] != nil && pg.row.Path != pg.rowPath() {
			pg.from = pg.row.Path
			m.present[pg.row.Path] = true
		}
		m.present[pg.rowPath()] = true
	}
	missing := map[string][]*workspace.Imported{} // rows of missing files, by hash
	for _, at := range sortedKeys(m.rows) {
		if row := m.rows[at]; row.Kind == pageKind && !m.present[at] && !claimed[row.Target] && row.Source != "" {
			missing[row.Source] = append(missing[row.Source], row)
		}
	}
	for _, pg := range im.pages {
		switch {
		case pg.row != nil || pg.front.id != "" || pg.file == "":
		case claim(pg, m.rows[pg.dir+"/"]): // a folder that had no file has one now
			pg.from = pg.row.Path
			m.present[pg.from] = true
		case pg.size > 0:
			im.matchMoved(pg, missing[pg.source], claim)
		}
	}
	for _, pg := range im.pages {
		if pg.row == nil && pg.front.id == "" && pg.file == "" {
			claim(pg, m.rows[pg.dir+".md"]) // the file is gone, and not moved elsewhere, but what was below it is there
		}
	}
	im.matchMovedFolders(claim)
}

// matchMoved looks among rows with the same content for the one that the page had before it was moved, preferably one
// with the same file name.
func (im *importer) matchMoved(pg *page, list []*workspace.Imported, claim func(*page, *workspace.Imported) bool) {
	for _, sameName := range []bool{true, false} {
		for _, row := range list {
			if (path.Base(row.Path) == path.Base(pg.file)) == sameName && claim(pg, row) {
				pg.from = row.Path
				im.memory.present[row.Path] = true
				return
			}
		}
	}
}

// matchMovedFolders assigns rows to the folders above moved pages.
func (im *importer) matchMovedFolders(claim func(*page, *workspace.Imported) bool) {
	for _, pg := range im.pages {
		if pg.from == "" || pg.row == nil {
			continue
		}
		oldFolder := path.Dir(strings.TrimSuffix(pg.from, "/"))
		for up := pg.parent; up != nil && up.row == nil && up.file == "" && oldFolder != "."; up, oldFolder = up.parent, path.Dir(oldFolder) {
			if im.memory.present[oldFolder+"/"] || !claim(up, im.memory.rows[oldFolder+"/"]) {
				break
			}
			up.from = oldFolder + "/"
			im.memory.present[up.from] = true
		}
	}
}

// adoptExisting matches pages without a row with documents at the same path of the target notebook, if the vault has no
// record of an import from the place.
func (im *importer) adoptExisting(tx *workspace.Tx) {
	if im.o.Copy || !im.memory.isFirstImport() {
		return
	}
	claimed := map[string]bool{}
	tx.Rows(func(row workspace.Row) bool {
		claimed[row.Text(0)] = true
		return true
	}, "SELECT target FROM imported WHERE kind = 'page'")
	for _, pl := range im.plans {
		if pl.exported != nil {
			continue
		}
		box := im.boxOf(tx, pl)
		if box == nil {
			continue
		}
		var walk func(list []*page, at string)
		walk = func(list []*page, at string) {
			for _, pg := range list {
				hpath := at + "/" + pg.title
				for _, d := range tx.DocumentsByHPath(box.ID, hpath) {
					if pg.pathTaken = claimed[d.ID()] && pg.file != ""; pg.front.id == "" && !pg.pathTaken && !pg.broken {
						claimed[d.ID()] = true
						im.adoptOne(tx, pg, d)
						break
					}
				}
				walk(pg.children, hpath)
			}
		}
		walk(pl.top, "")
	}
}

// adoptOne makes d the document of a page. The headings of the page get the ids that they have in d.
func (im *importer) adoptOne(tx *workspace.Tx, pg *page, d *tree.Document) {
	pg.adopted, pg.id = true, d.ID()
	im.memory.inVault[pg.id] = true
	root := tx.Peek(d.ID())
	if root == nil {
		return
	}
	names := map[string]string{}
	root.Walk(func(b *tree.Block) {
		if text := strings.TrimLeft(b.Text, "#"); b.Kind == tree.Heading && names["h:"+headingKey(text)] == "" {
			names["h:"+headingKey(text)] = b.ID
		}
	})
	pg.restoreIDs(names)
}

// restoreIDs restores the former ids of headings and blocks that links refer to.
func (p *page) restoreIDs(names map[string]string) {
	for kind, list := range map[string]map[string]string{"h:": p.headings, "a:": p.anchors} {
		for key, id := range list {
			if oldID := names[kind+key]; oldID != "" && oldID != id && !slices.Contains(p.definedIDs, id) && !slices.Contains(p.definedIDs, oldID) {
				list[key] = oldID
				p.texts[oldID] = p.texts[id]
			}
		}
	}
}

// boxOf returns the notebook for the pages of a plan, nil if it has to be created.
func (im *importer) boxOf(tx *workspace.Tx, pl *notebookPlan) *tree.Notebook {
	if pl.exported != nil {
		return tx.Notebook(pl.id)
	}
	if box := tx.Notebook(im.memory.origin.Notebook); box != nil && tx.OpenNotebook(box.ID) != nil {
		return box
	}
	for _, box := range tx.Notebooks() {
		if box.Conf.Name == pl.name && tx.OpenNotebook(box.ID) != nil {
			return box
		}
	}
	return nil
}
