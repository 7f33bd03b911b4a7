package folder

import (
	"context"
	"errors"
	"maps"
	"path"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

const (
	// batchPages and batchBytes bound a transaction, since each added document is compared with all others of the
	// transaction.
	batchPages = 60
	batchBytes = 4 << 20
)

// writeBatch is what the next transaction writes.
type writeBatch struct {
	pages  []convertedPage
	assets []asset
	rows   []workspace.Imported // of assets
	bytes  int
}

// convertedPage is a page as blocks.
type convertedPage struct {
	*page
	blocks []*tree.Block
	hash   string // of its content
}

// writePlan writes the pages and assets of a notebook into the vault, in batches.
func (im *importer) writePlan(ctx context.Context, pl *notebookPlan) error {
	closed := false
	if err := im.transact(ctx, func(tx *workspace.Tx) error {
		if box := tx.Notebook(pl.id); pl.inVault && box != nil {
			closed = box.Conf.Closed
		} else if im.memory.isFirstImport() && !im.hasIDs || pl.exported != nil {
			im.makeNotebook(tx, pl)
		}
		return nil
	}); err != nil {
		return err
	}
	im.report.Notebooks++
	if closed {
		im.report.problem(pl.exported.Folder, 0, codeNotebookClosed, pl.name, "the notebook is closed: open it first; nothing in it was touched")
		im.skipped = true
		im.skipPage(pl)
		return nil
	}
	if pl.assets != "" {
		if err := im.importAssets(ctx, pl); err != nil {
			return err
		}
	}
	if pl.page != nil && !pl.page.broken {
		if err := im.queue(ctx, pl.page); err != nil {
			return err
		}
	}
	if err := pl.each(func(pg *page) error { return im.queue(ctx, pg) }); err != nil {
		return err
	}
	if err := im.flush(ctx); err != nil {
		return err
	}
	if pl.databases == "" {
		return nil
	}
	return im.transact(ctx, func(tx *workspace.Tx) error {
		if !tx.Writes() {
			return nil
		}
		im.importDatabases(tx, pl)
		im.importCards(tx, pl)
		if box := tx.Notebook(pl.id); !pl.inVault && pl.exported != nil && box != nil {
			box.Conf.Closed = pl.exported.Conf.Closed
		}
		return nil
	})
}

// each calls do for the pages of a notebook, parents first.
func (pl *notebookPlan) each(do func(*page) error) error {
	var walk func(list []*page) error
	walk = func(list []*page) error {
		for _, pg := range list {
			if err := do(pg); err != nil {
				return err
			}
			if err := walk(pg.children); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(pl.top)
}

// skipPage records that the pages of a notebook were skipped.
func (im *importer) skipPage(pl *notebookPlan) {
	_ = pl.each(func(pg *page) error {
		im.state(pg.rowPath(), pageKind, Closed, pg.id, "")
		return nil
	})
}

// transact runs do in a write transaction, or in a reading one for a dry run.
func (im *importer) transact(ctx context.Context, do func(*workspace.Tx) error) error {
	if im.o.DryRun {
		return im.w.View(ctx, do)
	}
	return im.w.Update(ctx, do)
}

// makeNotebook finds or creates the notebook of a plan. In a dry run it creates none, and may return nil.
func (im *importer) makeNotebook(tx *workspace.Tx, pl *notebookPlan) *tree.Notebook {
	if box := im.boxOf(tx, pl); box != nil {
		pl.id = box.ID
		return box
	}
	if !tx.Writes() {
		return nil
	}
	if pl.exported == nil {
		box := tx.CreateNotebook(pl.name)
		pl.id = box.ID
		return box
	}
	if pl.id == "" {
		pl.id = tx.NewID()
	}
	for _, existing := range tx.Notebooks() {
		existing.Conf.Sort++
	}
	conf := pl.exported.Conf
	conf.Name, conf.Closed, conf.Sort = pl.name, false, 0
	box := &tree.Notebook{ID: pl.id, Conf: conf}
	tx.AddNotebook(box)
	if pl.page == nil || pl.page.broken {
		page := tx.AddDocument(box, nil, pl.name, box.ID, nil)
		page.Sort = 0
		page.Root.Attrs["custom-hidden"] = "true"
	}
	return box
}

// queue prepares a page and writes the batch when it is large enough.
func (im *importer) queue(ctx context.Context, pg *page) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if im.isUnchanged(pg) {
		im.progress(pg)
		return nil
	}
	r := convertedPage{page: pg, blocks: im.blocks(pg)}
	r.hash = contentHash(im.rootAttrs(pg), r.blocks)
	im.batch.pages = append(im.batch.pages, r)
	im.batch.bytes += int(pg.size)
	if len(im.batch.pages) >= batchPages || im.batch.bytes >= batchBytes {
		return im.flush(ctx)
	}
	return nil
}

func (im *importer) progress(pg *page) {
	im.done++
	if im.o.Progress != nil {
		im.o.Progress(im.done, len(im.pages), pg.path())
	}
}

// blocks returns the blocks of a page. It reads the page a second time, after all pages were surveyed, so that all links can
// be resolved.
func (im *importer) blocks(pg *page) []*tree.Block {
	if pg.file == "" || pg.broken {
		return nil
	}
	if pg.load != nil {
		return im.archivedBlocks(pg)
	}
	list, ok := im.open(pg, false)
	if !ok {
		im.leaveOut(pg, "the file went away during the import: left out")
		return nil
	}
	if pg.dialect == ownDialect {
		return im.ownBlocks(pg, list)
	}
	r := &reader{im: im, pg: pg}
	for n := 1; len(list) > 0 && n < list[0].n; n++ {
		im.recordChange(pg.file, n, asFront)
	}
	list, r.defs = cutDefinitions(list, func(l line) { im.recordChange(pg.file, l.n, asDefinition) })
	text, numbers := r.convert(list)
	text = im.rename(pg, text)
	blocks := markup.Parse(text)
	r.checkWritten(text, numbers, blocks)
	created, updated := pg.stamps()
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if b.Attrs == nil {
				b.Attrs = map[string]string{}
			}
			if b.Attrs["id"] == "" {
				b.Attrs["id"] = im.newID(created)
			}
			if b.Attrs["updated"] == "" {
				b.Attrs["updated"] = updated
			}
		})
	}
	return blocks
}

// leaveOut leaves out a page whose file could be read at first but no longer: its document stays as it is, and the next
// import reads the file again.
func (im *importer) leaveOut(pg *page, why string) {
	pg.broken, pg.source = true, ""
	if im.sync != nil {
		im.sync.leaveOut(pg)
		return
	}
	im.report.problem(pg.file, 0, codeUnreadable, path.Base(pg.file), why)
}

// rename returns text with the new ids of those that were in use already.
func (im *importer) rename(pg *page, text string) string {
	if len(im.renamed)+len(pg.renamed) == 0 {
		return text
	}
	return idInText.ReplaceAllStringFunc(text, func(id string) string {
		if newID := pg.renamed[id]; newID != "" {
			return newID
		}
		if newID := im.renamed[id]; newID != "" {
			return newID
		}
		return id
	})
}

// flush writes the batch.
func (im *importer) flush(ctx context.Context) error {
	b := im.batch
	im.batch = writeBatch{}
	if len(b.pages)+len(b.assets)+len(b.rows) == 0 {
		return nil
	}
	var results []pageOutcome
	var reports []func(error)
	err := im.transact(ctx, func(tx *workspace.Tx) error {
		if tx.Writes() {
			for _, a := range b.assets {
				tx.WriteFile("/data/"+a.to, a.data, a.changed)
			}
			for _, row := range b.rows {
				tx.PutImported(im.origin.N, row)
			}
		}
		results = nil
		for _, pg := range b.pages {
			r, report, err := im.putPage(tx, pg)
			if report != nil {
				reports = append(reports, report)
			}
			if err = errors.Join(err, tx.Err()); err != nil {
				return err
			}
			results = append(results, r)
		}
		return nil
	})
	for _, report := range reports {
		report(err)
	}
	if err != nil {
		return err
	}
	im.report.Files += len(b.assets)
	for i, pg := range b.pages {
		im.reportOutcome(pg, results[i])
		im.progress(pg.page)
	}
	return nil
}

// addPage adds a document for a page.
func (im *importer) addPage(tx *workspace.Tx, pg convertedPage) {
	var box *tree.Notebook
	var parent *tree.Document
	for up := pg.parent; up != nil && parent == nil; up = up.parent { // skips pages without a document
		if parent = tx.Document(up.id); parent != nil {
			box = parent.Box
		}
	}
	if box == nil {
		box = im.makeNotebook(tx, pg.plan)
	}
	d := tx.AddDocument(box, parent, pg.title, pg.id, tx.Identify(pg.blocks))
	im.setAttrs(pg.page, d)
	if pg.dialect == ownDialect {
		d.Sort = pg.front.sort
	}
	if pg.plan.page == pg.page {
		d.Sort = 0
		d.Root.Attrs["custom-hidden"] = "true"
	}
}

// setAttrs gives a document the attributes from the front matter of its page.
func (im *importer) setAttrs(pg *page, d *tree.Document) {
	created, updated := pg.stamps()
	if pg.dialect == ownDialect {
		updated = pg.front.updated
		if updated == "" {
			updated = created
		}
	}
	for name := range d.Root.Attrs {
		if !isUsageAttr(name) {
			delete(d.Root.Attrs, name)
		}
	}
	maps.Copy(d.Root.Attrs, im.rootAttrs(pg))
	d.Root.Attrs["updated"] = updated
}

// rootAttrs returns the attributes of a page's document.
func (im *importer) rootAttrs(pg *page) map[string]string {
	attrs := map[string]string{}
	for name, value := range pg.front.attrs {
		attrs[name] = im.rename(pg, value)
	}
	if pg.dialect == ownDialect {
		im.ownAttrs(pg, attrs)
	}
	for day := range dailyNotes(pg) {
		attrs["custom-dailynote-"+day] = day
	}
	return attrs
}

// dailyNotes returns the day (yyyyMMdd) whose daily note a Logseq page is, as a set; nil for other pages.
func dailyNotes(pg *page) map[string]bool {
	if pg.dialect != logseqDialect || path.Dir(pg.file) != "journals" {
		return nil
	}
	if m := journalName.FindStringSubmatch(stem(pg.file)); m != nil {
		return map[string]bool{m[1] + m[2] + m[3]: true}
	}
	return nil
}
