package folder

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// pageOutcome is the result of importing a page.
type pageOutcome struct {
	state State
	// duplicatePath is set if another document has the same path.
	duplicatePath bool
}

// isUnchanged reports whether a page need not be read again: neither its file nor anything that its links depend on has
// changed, its document was removed in the vault, or its file cannot be read. It then records the state of the page.
func (im *importer) isUnchanged(pg *page) bool {
	m := im.memory
	if pg.plan.page == pg && pg.row == nil {
		return false
	}
	if pg.broken && len(pg.children) == 0 {
		im.state(pg.rowPath(), pageKind, LeftOut, "", "")
		return true
	}
	if pg.row == nil || pg.from != "" {
		return false
	}
	if !im.hasDocument(pg.row.Target) {
		if im.o.Theirs || im.sync != nil && im.isRestored(pg) {
			return false
		}
		im.state(pg.rowPath(), pageKind, Removed, pg.row.Target, "")
		return true
	}
	_, links, _ := strings.Cut(m.origin.State, " ")
	if pg.file != "" && (pg.row.Source != pg.source || links != m.links || !m.wasCompleted()) {
		return false
	}
	im.state(pg.rowPath(), pageKind, Unchanged, pg.row.Target, "")
	return true
}

// putPage writes a page into the vault. If report is not nil, the caller must call it with the result of the
// transaction.
func (im *importer) putPage(tx *workspace.Tx, pg convertedPage) (out pageOutcome, report func(error), err error) {
	d := tx.Document(pg.id)
	switch {
	case pg.broken && (d != nil || len(pg.children) == 0):
		return pageOutcome{state: LeftOut}, nil, nil
	case d == nil && tx.DocumentExists(pg.id):
		return pageOutcome{state: Closed}, nil, nil
	case d == nil && pg.row != nil && !im.o.Theirs && !(im.sync != nil && im.isRestored(pg.page)):
		return pageOutcome{state: Removed}, nil, nil
	case d == nil && im.belongsToClosed(tx, pg.page):
		return pageOutcome{state: Closed}, nil, nil
	case d == nil:
		out.state = Added
		if pg.row != nil {
			out.state = Restored
		}
		out.duplicatePath = pg.pathTaken
		if tx.Writes() {
			im.addPage(tx, pg)
			im.recordPage(tx, pg)
			if im.sync != nil {
				im.sync.recordAdded(tx, pg)
			}
		}
		return out, nil, nil
	case im.sync != nil:
		return im.sync.updateDocument(tx, d, pg), nil, nil
	}
	return im.update(tx, d, pg)
}

// belongsToClosed reports whether a page that has no document yet would get one in the notebook of the last import, and
// that notebook is closed.
func (im *importer) belongsToClosed(tx *workspace.Tx, pg *page) bool {
	for up := pg.parent; up != nil; up = up.parent {
		if tx.Document(up.id) != nil {
			return false
		}
	}
	box := tx.Notebook(im.memory.origin.Notebook)
	return pg.plan.exported == nil && box != nil && box.Conf.Closed
}

// update updates an existing document, unless both the document and its file have changed. report is as in putPage.
func (im *importer) update(tx *workspace.Tx, d *tree.Document, pg convertedPage) (out pageOutcome, report func(error), err error) {
	current, base, source := contentHash(d.Root.Attrs, d.Root.Children), "", ""
	if pg.row != nil {
		base, source = pg.row.Content, pg.row.Source
	} else if earlier := im.mark.knownFile(pg.file); earlier.Content != "" {
		base, source = earlier.Content, earlier.File
	}
	if base == "" && pg.load != nil && hashAfterSY(d) == pg.hash {
		base = current // an archive has the same content in other Markdown
		pg.hash = current
	}
	switch {
	case pg.file == "" || pg.hash == current:
		out.state = Unchanged
	case source != "" && source == pg.source && (pg.hash == base || base != current || pg.row == nil):
		out.state = Unchanged // changed only in the vault
	case base == current:
		out.state = Updated
	case pg.hash == base:
		out.state = Unchanged
	case im.o.Theirs:
		out.state = Overwritten
	default:
		out.state = Conflict
		return out, nil, nil
	}
	if out.state == Unchanged && pg.from != "" {
		out.state = Moved
	}
	if !tx.Writes() {
		return out, nil, nil
	}
	if out.state == Overwritten && im.o.BeforeOverwrite != nil {
		if report, err = im.o.BeforeOverwrite(d.ID(), pg.path()); err != nil {
			return out, nil, err
		}
	}
	im.placeDocument(tx, d, pg)
	if out.state == Updated || out.state == Overwritten {
		merge(tx, d, pg.blocks, pg.linkedIDs())
		im.setAttrs(pg.page, d)
	}
	if pg.row == nil && pg.hash != current && out.state == Unchanged {
		pg.hash = base // the file's hash when it was written
	}
	im.recordPage(tx, pg)
	return out, report, nil
}

// hashAfterSY returns the hash of a document after it was written to an archive and read back, "" if it cannot be read.
func hashAfterSY(d *tree.Document) string {
	root, err := markup.ParseSY(markup.SY(d))
	if err != nil {
		return ""
	}
	for _, b := range root.Children {
		b.Walk(func(b *tree.Block) { delete(b.Attrs, "custom-riff-decks") })
	}
	return contentHash(root.Attrs, root.Children)
}

// placeDocument gives a document the title and place of its page, unless a person has changed them in the vault.
func (im *importer) placeDocument(tx *workspace.Tx, d *tree.Document, pg convertedPage) {
	if pg.row == nil || d.Hidden() {
		return
	}
	if d.Title() == pg.row.Title && pg.title != d.Title() {
		d.Root.Attrs["title"] = pg.title
	}
	if pg.from == "" || pg.dialect == ownDialect {
		return
	}
	at := ""
	if d.Parent != nil {
		at = d.Parent.ID()
	}
	if at != pg.row.Parent {
		return
	}
	var parent *tree.Document
	if pg.parent != nil {
		if parent = tx.Document(pg.parent.id); parent == nil || parent.Box != d.Box || parent.Inside(d) {
			return
		}
	}
	if parent != d.Parent {
		tx.MoveDocument(d, d.Box, parent)
	}
}

// hasDocument reports whether the vault has a document; in a sync, whether its notebook has.
func (im *importer) hasDocument(id string) bool {
	_, exists := im.memory.inVault[id]
	return exists && (im.sync == nil || !im.sync.leftNotebook(id))
}

// isRestored reports whether a page whose document was removed in the vault comes back: its file has changed, or a page
// below it stays.
func (im *importer) isRestored(pg *page) bool {
	if pg.row == nil || pg.file != "" && pg.source != pg.row.Source {
		return true
	}
	for _, child := range pg.children {
		if child.row != nil && im.hasDocument(child.row.Target) || im.isRestored(child) {
			return true
		}
	}
	return false
}

// recordPage records what a page has become.
func (im *importer) recordPage(tx *workspace.Tx, pg convertedPage) {
	parent := ""
	if pg.parent != nil {
		parent = pg.parent.id
	}
	if pg.from != "" && pg.from != pg.rowPath() {
		tx.RemoveImported(im.origin.N, pg.from)
	}
	if im.origin.Notebook == "" && pg.plan.exported == nil && pg.plan.id != "" {
		im.origin.Notebook = pg.plan.id
		tx.PutOrigin(&im.origin)
	}
	row := workspace.Imported{
		Path: pg.rowPath(), Kind: pageKind, Target: pg.id, Title: pg.title, Parent: parent, Source: pg.source, Content: pg.hash, Names: pg.linkedNames(),
	}
	if im.sync != nil && pg.from != "" {
		im.sync.recordFormer(tx, im.origin.N, im.memory.rows[pg.from], row)
	}
	tx.PutImported(im.origin.N, row)
}

// linkedIDs returns the ids in a page that links refer to.
func (p *page) linkedIDs() map[string]bool {
	linked := map[string]bool{}
	for _, list := range []map[string]string{p.headings, p.anchors} {
		for _, id := range list {
			linked[id] = true
		}
	}
	for _, id := range p.definedIDs {
		linked[id] = true
	}
	return linked
}

// reportOutcome adds the outcome of a page to the report.
func (im *importer) reportOutcome(pg convertedPage, out pageOutcome) {
	im.state(pg.rowPath(), pageKind, out.state, pg.id, pg.from)
	switch out.state {
	case Conflict:
		why := "the document was changed here as well: it stays as it is here"
		if pg.row == nil {
			why = "the notebook has another document here, and whether it came from this file is not known: it stays as it is"
		}
		im.report.problem(pg.path(), 0, codeConflict, pg.title, why)
	case Closed:
		im.report.problem(pg.path(), 0, codeNotebookClosed, pg.title, "its notebook is closed: open it and import again")
	case BothKept:
		im.report.problem(pg.path(), 0, codeConflict, pg.title, "changed on both sides: the file stays, and what the notebook said is beside it")
		im.report.Documents++
	case Added, Restored, Updated, Overwritten:
		im.report.Documents++
		for _, block := range pg.blocks {
			block.Walk(func(*tree.Block) { im.report.Blocks++ })
		}
	}
	if out.duplicatePath {
		im.report.problem(pg.path(), 0, codePathTaken, pg.title, "the notebook has a document from elsewhere at this path: now there are two")
	}
}
