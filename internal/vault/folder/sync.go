package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// defaultDeletions is how many files and documents a sync removes without asking.
const defaultDeletions = 10

// SyncOptions say how a folder is kept equal with a notebook. The zero value works.
type SyncOptions struct {
	// Notebook is the name of the notebook; "" means that of the last sync or import of the folder, or the base name of
	// the folder. It is created if there is none.
	Notebook string
	// AllowDeletions is how many files and documents may be removed without asking. 0 means [defaultDeletions], and that
	// Confirm is also asked about fewer deletions if the folder or the notebook has become empty.
	AllowDeletions int
	// Confirm is asked about deletions beyond the bound. nil means no: they are held back.
	Confirm func(d Deletions) bool
	// DryRun reports what would be done, and writes nothing.
	DryRun bool
	// Plain writes nothing but what Obsidian knows, and leaves out the rest: for a folder that is only read there.
	Plain bool
	// Progress, if not nil, is called after each file.
	Progress func(done, total int, name string)
}

// Deletions are what a sync would remove, since it was removed on the other side.
type Deletions struct {
	// Files are paths of files in the folder whose documents are gone.
	Files []string
	// Documents are paths of files that are gone, but whose documents still exist.
	Documents []string
}

// Count returns how many there are.
func (d Deletions) Count() int { return len(d.Files) + len(d.Documents) }

// SyncReport says what a sync did.
type SyncReport struct {
	Report
	// Notebook is the id of the notebook, and Name its name.
	Notebook, Name string
	// Held are deletions that were not done, since nobody agreed to them.
	Held Deletions
	// Idle says that both sides were as the last sync had left them: nothing was written.
	Idle bool
}

// The states of files that only a sync reports.
const (
	FileWritten  State = "written"          // a new file for a document
	FileUpdated  State = "file-updated"     // the document has changed and the file has not
	FileRenamed  State = "file-moved"       // the document has another title or place
	FileDeleted  State = "file-removed"     // the document is gone
	DocDeleted   State = "document-removed" // the file is gone
	BothKept     State = "both-kept"        // changed on both sides: what the document said is in a file beside it
	HeldBack     State = "held"             // a deletion that nobody agreed to
	FileRestored State = "file-restored"    // the file is gone, but its document has changed
)

var (
	// ErrNotebookGone is the error for a folder whose notebook was removed. The files of the folder stay.
	ErrNotebookGone = errors.New("the notebook that the folder was kept equal with is no more")
	// ErrNotebookClosed is the error for a closed notebook.
	ErrNotebookClosed = errors.New("the notebook is closed")
	// ErrNotSynced is the error for a folder that can only be imported.
	ErrNotSynced = errors.New("the folder cannot be kept equal with a notebook")
	// ErrNotebookTaken is the error for a notebook that is kept equal with another folder.
	ErrNotebookTaken = errors.New("the notebook is kept equal with another folder")
)

// Sync makes a folder of Markdown and a notebook equal: what changed on one side since the last sync is done on the
// other. What changed on both sides is kept twice: the file stays, and what the document said goes into a file and a
// document beside it. Hashes decide what has changed, never times.
//
// A file is written only if its document has changed, and then only the blocks that have: the lines of all others stay
// as they are. Each file is replaced whole. Nothing is written through a symbolic link, hidden files and folders are
// left alone, and files that no page links to are too.
//
// A sync that was interrupted goes on with the next one. Only one may run on a vault at a time. An error means that the
// folder or the vault cannot be used, or that ctx has ended; the report says what was done until then.
func Sync(ctx context.Context, w *workspace.Workspace, dir string, o SyncOptions) (SyncReport, error) {
	s := &syncer{w: w, o: o, report: &SyncReport{}, synced: map[string]workspace.Synced{}, emptied: map[string]bool{}}
	s.im = newImporter(w, ImportOptions{Notebook: o.Notebook, DryRun: o.DryRun, Progress: o.Progress})
	s.im.report, s.im.sync = &s.report.Report, s
	err := s.run(ctx, dir)
	s.report.sort()
	return *s.report, err
}

// syncer is one sync.
type syncer struct {
	w      *workspace.Workspace
	o      SyncOptions
	report *SyncReport
	im     *importer
	// isKnown says that the folder was kept equal with a notebook before.
	isKnown bool

	box    *tree.Notebook              // nil until it exists
	docs   []*syncDoc                  // documents of the notebook, parents first
	byID   map[string]*syncDoc         // by id
	synced map[string]workspace.Synced // states of the last sync by path
	// deleteFiles and deleteDocs are what the sync removes.
	deleteFiles map[string]bool // paths
	deleteDocs  map[string]bool // ids
	heldDocs    map[string]bool // ids of documents whose files are gone or cannot be read, and that stay
	// emptied has ids of documents whose file is gone while there are pages below it. They lose their text.
	emptied map[string]bool
	wrote   bool // this sync has written something in the folder
	moved   bool // this sync has moved some page, so that the vault has records of its former place
	// unfinished says that a file could not be written or was left alone, so that links in it may still be as they were.
	unfinished bool
}

// syncDoc is a document of the notebook.
type syncDoc struct {
	id, title, parent string
	rev               int64
	depth             int
}

// run does the whole sync. It reads the folder and the notebook, brings the records of an interrupted sync up to date, and
// updates both sides unless nothing has changed.
func (s *syncer) run(ctx context.Context, dir string) error {
	place, err := PlaceOf(dir)
	if err != nil {
		return err
	}
	im := s.im
	if im.s, err = open(ctx, place, im.report); err != nil {
		return fmt.Errorf("read the folder %s: %w", place, err)
	}
	defer func() { _ = im.s.root.Close() }()
	if err := s.w.View(ctx, func(tx *workspace.Tx) error {
		s.isKnown = slices.ContainsFunc(tx.Origins(), func(o workspace.Origin) bool { return o.Place == place && len(tx.Synced(o.N)) > 0 })
		return tx.Err()
	}); err != nil {
		return err
	}
	if err := im.layOut(filepath.Base(place)); err != nil {
		return err
	}
	switch {
	case im.mark != nil:
		return fmt.Errorf("%w: it is an export of Collie, which only vault import reads", ErrNotSynced)
	case im.program.dialect == logseqDialect:
		return fmt.Errorf("%w: it is a graph of Logseq, which only vault import reads", ErrNotSynced)
	}
	if err := im.hashPages(ctx); err != nil {
		return err
	}
	load := func() error {
		return s.w.View(ctx, func(tx *workspace.Tx) error {
			im.loadVaultAssets(tx)
			if err := im.loadMemory(tx, place); err != nil {
				return err
			}
			return s.load(tx)
		})
	}
	if err := load(); err != nil {
		return err
	}
	switch {
	case len(im.memory.writing) == 0:
	case s.o.DryRun:
		s.assumeWrites()
	default:
		if err := errors.Join(s.recoverWrites(ctx), load()); err != nil {
			return err
		}
	}
	if s.isIdle() {
		s.report.Idle = true
		im.isUpToDate()
		return im.keepPlace(ctx)
	}
	if !s.o.DryRun {
		s.removeLeftovers()
	}
	return s.bothWays(ctx)
}

// load reads the notebook and what the last sync recorded.
func (s *syncer) load(tx *workspace.Tx) error {
	m := s.im.memory
	s.synced = tx.Synced(m.origin.N)
	s.box = nil
	switch box := tx.Notebook(m.origin.Notebook); {
	case box != nil:
		s.box = box
	case m.origin.Notebook != "" && len(m.rows) > 0:
		return ErrNotebookGone
	default:
		for _, box := range tx.Notebooks() {
			if box.Conf.Name == s.im.plans[0].name {
				s.box = box
				break
			}
		}
	}
	s.report.Name = s.im.plans[0].name
	if s.box == nil {
		return nil
	}
	s.report.Notebook, s.report.Name = s.box.ID, s.box.Conf.Name
	if s.box.Conf.Closed {
		return fmt.Errorf("%w: %s", ErrNotebookClosed, s.box.Conf.Name)
	}
	for _, o := range tx.Origins() {
		if !s.o.Plain && o.Notebook == s.box.ID && o.N != m.origin.N && len(tx.Synced(o.N)) > 0 {
			return fmt.Errorf("%w: %s", ErrNotebookTaken, o.Place)
		}
	}
	s.loadDocuments(tx)
	return nil
}

// loadDocuments reads which documents the notebook has.
func (s *syncer) loadDocuments(tx *workspace.Tx) {
	s.docs, s.byID = nil, map[string]*syncDoc{}
	revs := tx.Revisions(s.box.ID)
	for _, d := range tx.Documents(s.box) {
		if d.Hidden() || !tree.ValidID(d.ID()) {
			continue
		}
		doc := &syncDoc{id: d.ID(), title: d.Title(), rev: revs[d.ID()], depth: d.Depth()}
		if d.Parent != nil {
			doc.parent = d.Parent.ID()
		}
		s.docs = append(s.docs, doc)
		s.byID[doc.id] = doc
	}
	slices.SortStableFunc(s.docs, func(a, b *syncDoc) int { return a.depth - b.depth })
}

// isIdle reports whether both sides are as the last sync has left them.
func (s *syncer) isIdle() bool {
	m := s.im.memory
	if s.box == nil || m.isFirstImport() || !m.wasCompleted() {
		return false
	}
	m.state = s.im.folderHash()
	if state, _, _ := strings.Cut(m.origin.State, " "); state != m.state {
		return false
	}
	pages := 0
	for at, row := range m.rows {
		if row.Kind == assetKind {
			if hash, exists := s.im.assetHashes[row.Target]; exists && hash != row.Source {
				return false
			}
			continue
		}
		pages++
		d := s.byID[row.Target]
		state, known := s.synced[at]
		if d == nil || !known || d.rev != state.Rev || d.title != row.Title || d.parent != row.Parent {
			return false
		}
	}
	return pages == len(s.docs)
}

// bothWays does the sync once something has changed.
func (s *syncer) bothWays(ctx context.Context) error {
	im := s.im
	for _, pg := range im.pages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		im.surveyPage(pg)
	}
	if err := s.w.View(ctx, s.dropForeignIDs); err != nil {
		return err
	}
	im.match()
	if err := s.w.View(ctx, func(tx *workspace.Tx) error {
		im.assignIDs(tx)
		im.adoptExisting(tx)
		return s.planDeletions(tx)
	}); err != nil {
		return err
	}
	im.memory.links = im.linkHash()
	im.index = newIndex(im.pages)
	im.index.former = formerOf(im.pages, im.memory.former)
	for _, pl := range im.plans {
		sortSiblings(pl.top)
	}
	if err := im.begin(ctx); err != nil {
		return err
	}
	for _, pl := range im.plans {
		if err := im.writePlan(ctx, pl); err != nil {
			return err
		}
	}
	if err := s.takeAssets(ctx); err != nil {
		return err
	}
	if err := s.deleteDocuments(ctx); err != nil {
		return err
	}
	if err := s.export(ctx); err != nil {
		return err
	}
	return s.finish(ctx)
}

// dropForeignIDs drops the ids in files that the vault has outside of the notebook: their pages get documents of their own,
// since a sync neither reads nor changes other notebooks.
func (s *syncer) dropForeignIDs(tx *workspace.Tx) error {
	im := s.im
	var ids []string
	for _, pg := range im.pages {
		if pg.front.id != "" {
			ids = append(ids, pg.front.id)
		}
	}
	owners := im.documentsOfIDs(tx, ids)
	for _, pg := range im.pages {
		id := pg.front.id
		if owners[id] == "" || s.byID[id] != nil {
			continue
		}
		im.report.problem(pg.path(), 0, codeIDTaken, id, "the vault has this id already: the document got a new one")
		pg.front.id = ""
		if row := im.memory.byTarget[id]; row != nil { // an earlier version took that document for the page's
			delete(im.memory.rows, row.Path)
			delete(im.memory.byTarget, id)
		}
	}
	return tx.Err()
}

// leftNotebook reports whether a document was moved from the notebook to another one.
func (s *syncer) leftNotebook(id string) bool {
	_, exists := s.im.memory.inVault[id]
	return exists && s.byID[id] == nil
}

// finish records that the sync is complete. If files were written, the next sync looks at everything once more.
func (s *syncer) finish(ctx context.Context) error {
	im := s.im
	im.keepNewProblemsOfSync()
	if s.o.DryRun {
		return nil
	}
	return s.w.Update(ctx, func(tx *workspace.Tx) error {
		if im.origin.Notebook == "" && s.box != nil {
			im.origin.Notebook = s.box.ID
		}
		im.origin.State = ""
		if !s.wrote && s.report.Held.Count() == 0 {
			im.origin.State = im.folderHash() + " " + im.linkHash()
		}
		tx.PutOrigin(&im.origin)
		if (s.moved || len(im.memory.former) > 0) && !s.unfinished && len(s.heldDocs) == 0 {
			for _, row := range tx.Imported(im.origin.N) {
				if row.Kind == formerKind {
					tx.RemoveImported(im.origin.N, row.Path)
				}
			}
		}
		return nil
	})
}

// keepNewProblemsOfSync is like keepNewProblems for a sync. Only the first sync reports attachments that no page links to.
func (im *importer) keepNewProblemsOfSync() {
	if len(im.memory.rows) > 0 && !im.memory.isFirstImport() {
		im.keepNewProblems()
		return
	}
	im.reportUnlinked()
}

// base returns the hash that a document had when it was last equal with its file, "" if it never was.
func (s *syncer) base(row *workspace.Imported) string {
	if state, ok := s.synced[row.Path]; ok && state.Content != "" {
		return state.Content
	}
	return row.Content
}

// hasChanged reports whether a document has changed since the last sync.
func (s *syncer) hasChanged(tx *workspace.Tx, d *syncDoc, row *workspace.Imported) bool {
	state, known := s.synced[row.Path]
	if d.title != row.Title || d.parent != row.Parent {
		return true
	}
	if known && state.Rev == d.rev {
		return false
	}
	root := tx.Peek(d.id)
	return root == nil || contentHash(root.Attrs, root.Children) != s.base(row)
}

// planDeletions decides which files and documents are removed because their counterpart is gone.
func (s *syncer) planDeletions(tx *workspace.Tx) error {
	s.deleteFiles, s.deleteDocs, s.heldDocs = map[string]bool{}, map[string]bool{}, map[string]bool{}
	im, m := s.im, s.im.memory
	if s.box == nil || m.isFirstImport() {
		return nil
	}
	pageOf := map[string]*page{} // by row
	for _, pg := range im.pages {
		if pg.row != nil {
			pageOf[pg.row.Path] = pg
		}
	}
	var planned Deletions
	docs := map[string]string{} // paths of the planned ones by id
	for _, at := range sortedKeys(m.rows) {
		row := m.rows[at]
		if row.Kind != pageKind {
			continue
		}
		d, pg := s.byID[row.Target], pageOf[at]
		switch {
		case d != nil && pg != nil && pg.broken:
			s.heldDocs[d.id] = true
		case d != nil && pg == nil && im.s.isUnread(strings.TrimSuffix(at, "/")): // it is not gone
			s.heldDocs[d.id] = true
			im.state(at, pageKind, LeftOut, d.id, "")
		case d == nil && pg != nil && pg.file != "" && pg.from == "" && !im.isRestored(pg):
			planned.Files = append(planned.Files, pg.file)
		case d != nil && pg != nil && pg.file == "" && !strings.HasSuffix(at, "/"):
			pg.from = at // the file is gone, but not what was below it
			if !s.hasChanged(tx, d, row) {
				planned.Documents = append(planned.Documents, at)
				s.emptied[row.Target] = true
			}
		case d != nil && pg == nil && !s.hasChanged(tx, d, row):
			planned.Documents = append(planned.Documents, at)
			docs[row.Target] = at
		}
	}
	if planned.Count() == 0 {
		return tx.Err()
	}
	files := 0
	for _, pg := range im.pages {
		if pg.file != "" {
			files++
		}
	}
	allowed, given := s.o.AllowDeletions, s.o.AllowDeletions > 0
	if !given {
		allowed = defaultDeletions
	}
	empty := len(planned.Documents) > 0 && files == 0 || len(planned.Files) > 0 && len(s.docs) == 0
	if planned.Count() > allowed || empty && !given {
		if s.o.Confirm == nil || !s.o.Confirm(planned) {
			s.report.Held = planned
			s.emptied = map[string]bool{}
			for id := range docs {
				s.heldDocs[id] = true
			}
			for _, at := range planned.Documents {
				s.heldDocs[m.rows[at].Target] = true
				im.state(at, pageKind, HeldBack, m.rows[at].Target, "")
			}
			for _, at := range planned.Files {
				im.state(at, pageKind, HeldBack, "", "")
			}
			return tx.Err()
		}
	}
	for _, at := range planned.Files {
		s.deleteFiles[at] = true
	}
	for id := range docs {
		s.deleteDocs[id] = true
	}
	return tx.Err()
}

// deleteDocuments removes the documents whose files are gone, and saves them into the history. One that has documents
// below it that stay becomes empty.
func (s *syncer) deleteDocuments(ctx context.Context) error {
	if len(s.deleteDocs)+len(s.emptied) == 0 {
		return nil
	}
	at := map[string]string{}
	for path, row := range s.im.memory.rows {
		at[row.Target] = path
	}
	if s.o.DryRun {
		for _, id := range append(sortedKeys(s.deleteDocs), sortedKeys(s.emptied)...) {
			s.im.state(at[id], pageKind, DocDeleted, id, "")
		}
		return nil
	}
	type removal struct {
		id    string
		depth int
	}
	var list []removal
	for id := range s.deleteDocs {
		list = append(list, removal{id, s.byID[id].depth})
	}
	slices.SortFunc(list, func(a, b removal) int { return b.depth - a.depth }) // those inside first
	for chunk := range slices.Chunk(list, batchPages) {
		var removed []string
		err := s.w.Update(ctx, func(tx *workspace.Tx) error {
			removed = nil
			for _, r := range chunk {
				d := tx.Document(r.id)
				if d == nil {
					continue
				}
				if root := tx.Peek(r.id); contentHash(root.Attrs, root.Children) != s.base(s.im.memory.rows[at[r.id]]) {
					continue // changed since we looked
				}
				if len(tx.Below(d)) > 1 {
					s.empty(tx, d)
				} else {
					edit.Remove(tx, d)
				}
				tx.RemoveImported(s.im.origin.N, at[r.id])
				removed = append(removed, r.id)
			}
			return tx.Err()
		})
		if err != nil {
			return err
		}
		for _, id := range removed {
			s.im.state(at[id], pageKind, DocDeleted, id, "")
		}
	}
	for chunk := range slices.Chunk(sortedKeys(s.emptied), batchPages) {
		if err := s.w.Update(ctx, func(tx *workspace.Tx) error {
			for _, id := range chunk {
				if d := tx.Document(id); d != nil {
					s.empty(tx, d)
				}
			}
			return tx.Err()
		}); err != nil {
			return err
		}
		for _, id := range chunk {
			s.im.state(at[id], pageKind, DocDeleted, id, "")
		}
	}
	return nil
}

// empty removes the text of a document whose file is gone, and saves it into the history before.
func (s *syncer) empty(tx *workspace.Tx, d *tree.Document) {
	edit.SaveCopy(tx, d, edit.Updated)
	merge(tx, d, nil, nil)
	for name := range d.Root.Attrs {
		if !isUsageAttr(name) {
			delete(d.Root.Attrs, name)
		}
	}
}

// leaveOut leaves the document of a page as it is, because its file went away while it was read.
func (s *syncer) leaveOut(pg *page) {
	s.heldDocs[pg.id] = true
	s.im.report.problem(pg.file, 0, codeUnreadable, path.Base(pg.file), "the file went away during the sync: its note stays as it is")
}

// updateDocument is like update for a sync: a document whose file has changed gets the content of the file. If the document
// has changed too, its own content is kept in a copy beside it.
func (s *syncer) updateDocument(tx *workspace.Tx, d *tree.Document, pg convertedPage) pageOutcome {
	im := s.im
	if pg.broken || s.box != nil && d.Box.ID != s.box.ID {
		return pageOutcome{state: LeftOut}
	}
	current := contentHash(d.Root.Attrs, d.Root.Children)
	base, made := "", ""
	if pg.row != nil {
		base, made = s.base(pg.row), pg.row.Content
	}
	out := pageOutcome{state: Unchanged}
	takes, keepsBase := false, false
	switch {
	case pg.file == "":
		if pg.row != nil && !strings.HasSuffix(pg.row.Path, "/") {
			pg.hash = contentHash(nil, nil) // its file is gone
			keepsBase = !s.emptied[d.ID()]
		} else if pg.row != nil {
			pg.hash, keepsBase = made, true
		}
	case pg.hash == current:
	case pg.row != nil && pg.hash == made: // only the document has changed
		keepsBase = true
	case pg.row != nil && pg.source == pg.row.Source && base != current: // the file is unchanged, but its links lead elsewhere now
		keepsBase = true
	case pg.row != nil && base == current, pg.row == nil && isEmptyDocument(d):
		out.state, takes = Updated, true
	default:
		out.state, takes = BothKept, true
	}
	if out.state == Unchanged && pg.from != "" {
		out.state = Moved
	}
	if !tx.Writes() {
		return out
	}
	im.placeDocument(tx, d, pg)
	if out.state == BothKept {
		s.keepCopy(tx, d)
	}
	if takes {
		edit.SaveBefore(tx, d)
		merge(tx, d, pg.blocks, pg.linkedIDs())
		im.setAttrs(pg.page, d)
	}
	im.recordPage(tx, pg)
	state := workspace.Synced{Rev: -1}
	if keepsBase && base != pg.hash {
		state.Content = base
	}
	if !keepsBase {
		tx.Flush()
		if pg.hash == current || takes {
			state.Rev = revisionOf(tx, d.ID())
		}
	}
	tx.PutSynced(im.origin.N, pg.rowPath(), state)
	return out
}

func isEmptyDocument(d *tree.Document) bool {
	return contentHash(d.Root.Attrs, d.Root.Children) == contentHash(nil, nil)
}

// revisionOf returns the revision of a document as it is in the file.
func revisionOf(tx *workspace.Tx, id string) (rev int64) {
	rev = -1
	tx.Rows(func(row workspace.Row) bool {
		rev = row.Int(0)
		return false
	}, "SELECT rev FROM document WHERE id = ?", id)
	return rev
}

// keepCopy adds a copy of a document beside it, before the file overwrites the document.
func (s *syncer) keepCopy(tx *workspace.Tx, d *tree.Document) {
	title := conflictTitle(d.Title(), func(title string) bool {
		taken := false
		for _, sibling := range tx.Children(d.Box, d.Parent) {
			taken = taken || foldName(sibling.Title()) == foldName(title)
		}
		return taken || s.im.s.has(path.Join(path.Dir(s.fileOf(d.ID())), title+".md"))
	})
	blocks := make([]*tree.Block, len(d.Root.Children))
	for i, b := range d.Root.Children {
		blocks[i] = b.Clone()
		blocks[i].Walk(func(b *tree.Block) {
			b.ID = ""
			delete(b.Attrs, "id")
			delete(b.Attrs, "custom-riff-decks")
		})
	}
	beside := tx.AddDocument(d.Box, d.Parent, title, "", tx.Identify(blocks))
	for name, value := range d.Root.Attrs {
		if !isUsageAttr(name) {
			beside.Root.Attrs[name] = value
		}
	}
}

// fileOf returns the file of a document, "" if it has none.
func (s *syncer) fileOf(id string) string {
	for _, pg := range s.im.pages {
		if pg.id == id {
			return pg.file
		}
	}
	return ""
}

// conflictTitle returns a free title for a copy that keepCopy makes of a document with a title.
func conflictTitle(title string, taken func(title string) bool) string {
	runes := []rune(title)
	if len(runes) > 400 {
		title = string(runes[:400])
	}
	for i := 1; ; i++ {
		name := title + " (conflict)"
		if i > 1 {
			name = fmt.Sprintf("%s (conflict %d)", title, i)
		}
		if !taken(name) {
			return name
		}
	}
}

// recordAdded records the revision of a document that was just added.
func (s *syncer) recordAdded(tx *workspace.Tx, pg convertedPage) {
	tx.Flush()
	tx.PutSynced(s.im.origin.N, pg.rowPath(), workspace.Synced{Rev: revisionOf(tx, pg.id)})
}

// takeAssets brings attachments that changed in the folder into the vault, also if no page has changed.
func (s *syncer) takeAssets(ctx context.Context) error {
	im := s.im
	for _, at := range sortedKeys(im.memory.rows) {
		row := im.memory.rows[at]
		if row.Kind != assetKind || !im.s.has(at) || im.isReferenced(at) {
			continue
		}
		if _, exists := im.assetHashes[row.Target]; !exists || im.s.hash(at, maxAsset) == row.Source {
			im.assets[at] = row.Target
			continue
		}
		if address, why := im.importAsset(at, ""); why == "" {
			im.assets[at] = address
		}
		if im.batch.bytes >= batchBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
	return im.flush(ctx)
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".collie-sync-"

// removeLeftovers removes the temporary files that a killed sync has left.
func (s *syncer) removeLeftovers() {
	dirs := append([]string{"."}, sortedKeys(s.im.s.dirs)...)
	for _, dir := range dirs {
		entries, err := fs.ReadDir(s.im.s.root.FS(), dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), tempPrefix) && e.Type().IsRegular() {
				_ = s.im.s.root.Remove(path.Join(dir, e.Name())) // it holds nothing that is not elsewhere
			}
		}
	}
}
