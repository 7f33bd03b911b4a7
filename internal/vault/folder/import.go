package folder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/workspace"
)

// maxPage is the largest file that becomes a document.
const maxPage = 16 << 20

// ImportOptions say how a folder is imported. The zero value works.
type ImportOptions struct {
	// Notebook is the name of the target notebook; "" means the base name of the folder. An open notebook of this
	// name is used, otherwise a new one is created. A folder written by Export has its own notebooks; a name is then
	// only allowed if there is one.
	Notebook string
	// Progress, if not nil, is called after each file.
	Progress func(done, total int, name string)
	// Theirs gives files precedence: a document that was changed in the vault too is overwritten, and one that was
	// removed there is created again.
	Theirs bool
	// Copy imports everything as new documents, whatever was imported before.
	Copy bool
	// MovedFrom is the path of the folder at its last import, as [PlaceOf] returns it.
	MovedFrom string
	// DryRun reports what would be done, and writes nothing.
	DryRun bool
	// BeforeOverwrite, if not nil, is called before a document is overwritten, with its id. The function that it
	// returns is called with the outcome.
	BeforeOverwrite func(id, path string) (done func(error), err error)
	// OnChange, if not nil, is called for each line that is written differently but means the same, with the names of
	// the kinds.
	OnChange func(path string, line int, kinds []string)
}

// Import imports a folder of Markdown files into the vault; the package comment says what it understands. An error
// means that the folder or the vault cannot be used at all, or that ctx has ended; everything else is a problem in
// the report.
//
// What was imported from the folder before is updated: a document whose file has changed gets its text and keeps its
// id, unless it was also changed in the vault. Nothing is removed.
//
// Import works in transactions of a few documents each, parents before children. If it is interrupted, the documents
// so far are whole, with their assets, in an open notebook. References to documents that were not reached have no
// target yet; the next import continues there. The report that comes with the error says how far it got.
func Import(ctx context.Context, w *workspace.Workspace, dir string, o ImportOptions) (Report, error) {
	im := newImporter(w, o)
	err := im.run(ctx, dir)
	im.summarizeChanges()
	im.report.sort()
	return *im.report, err
}

func newImporter(w *workspace.Workspace, o ImportOptions) *importer {
	return &importer{
		w: w, o: o, report: &Report{}, assets: map[string]string{}, assetsByHash: map[string][]string{}, assetHashes: map[string]string{},
		fileHashes: map[string]string{}, claimed: map[string]bool{}, newIDs: map[string]bool{}, renamed: map[string]string{},
	}
}

// importer is one import.
type importer struct {
	w      *workspace.Workspace
	o      ImportOptions
	report *Report
	s      *source
	mark   *exportMarker // nil if the folder is not an export
	hasIDs bool          // all documents have ids, as in an archive
	plans  []*notebookPlan
	pages  []*page
	index  *index
	memory *importMemory
	// program is the program that wrote the folder, if not us.
	program foreignProgram

	assets       map[string]string   // addresses by path in the folder, "" for files that cannot be assets
	assetsByHash map[string][]string // addresses of assets in the vault by hash
	assetHashes  map[string]string   // hashes by address
	fileHashes   map[string]string   // hashes of attachments by path; see hashOnce
	claimed      map[string]bool     // files that are something other than attachments
	newIDs       map[string]bool
	renamed      map[string]string // new ids by old ones that the vault has already
	batch        writeBatch
	done         int
	origin       workspace.Origin    // as stored during the import
	changes      [len(kindNames)]int // lines by kind
	skipped      bool                // a notebook of an export or archive is closed
	sync         *syncer             // nil unless it is a part of a sync
}

// run imports a folder: it reads the folder, plans what becomes of its files, and writes the documents.
func (im *importer) run(ctx context.Context, dir string) error {
	dir, err := PlaceOf(dir)
	if err != nil {
		return err
	}
	if im.s, err = open(ctx, dir, im.report); err != nil {
		return fmt.Errorf("read the folder %s: %w", dir, err)
	}
	defer func() { _ = im.s.root.Close() }()
	if err := im.layOut(filepath.Base(dir)); err != nil {
		return err
	}
	if err := im.hashPages(ctx); err != nil {
		return err
	}
	return im.writePages(ctx, dir)
}

// writePages writes the pages that were laid out.
func (im *importer) writePages(ctx context.Context, place string) error {
	if err := im.w.View(ctx, func(tx *workspace.Tx) error {
		im.loadVaultAssets(tx)
		return im.loadMemory(tx, place)
	}); err != nil {
		return err
	}
	m := im.memory
	m.state = im.folderHash()
	if state, _, _ := strings.Cut(m.origin.State, " "); state == m.state && im.isUpToDate() {
		return im.keepPlace(ctx)
	}
	for _, pg := range im.pages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		im.surveyPage(pg)
	}
	im.match()
	if err := im.w.View(ctx, func(tx *workspace.Tx) error {
		im.assignIDs(tx)
		im.adoptExisting(tx)
		return nil
	}); err != nil {
		return err
	}
	m.links = im.linkHash()
	im.index = newIndex(im.pages)
	for _, pl := range im.plans {
		sortSiblings(pl.top)
	}
	if err := im.begin(ctx); err != nil {
		return err
	}
	for _, pl := range slices.Backward(im.plans) { // backwards, since each new notebook goes before the others
		if err := im.writePlan(ctx, pl); err != nil {
			return err
		}
	}
	return im.finish(ctx)
}

// keepPlace records the current path of the folder.
func (im *importer) keepPlace(ctx context.Context) error {
	if im.o.DryRun || im.memory.place == im.memory.origin.Place {
		return nil
	}
	return im.w.Update(ctx, func(tx *workspace.Tx) error { tx.PutOrigin(&im.memory.origin); return nil })
}

// isUpToDate reports whether an unchanged folder needs no import at all, and records the state of each file. It is
// false only if a document or asset is missing in the vault and the options say to recreate it.
func (im *importer) isUpToDate() bool {
	m := im.memory
	for id := range m.byTarget {
		if _, exists := m.inVault[id]; !exists && im.o.Theirs {
			return false
		}
	}
	fileExists := map[string]bool{}
	for _, pg := range im.pages {
		fileExists[pg.rowPath()] = true
	}
	for _, at := range sortedKeys(m.rows) {
		row := m.rows[at]
		_, exists := m.inVault[row.Target]
		if row.Kind == assetKind {
			_, exists = im.assetHashes[row.Target]
			if !exists && im.o.Theirs {
				return false
			}
		}
		state := Unchanged
		switch {
		case !exists:
			state = Removed
		case !fileExists[at] && !im.s.has(at):
			state = Gone
		}
		im.state(at, row.Kind, state, row.Target, "")
	}
	im.report.Notebooks = len(im.plans)
	return true
}

// state records the state of a file.
func (im *importer) state(at, kind string, state State, target, from string) {
	im.report.States = append(im.report.States, FileState{Path: at, Kind: kind, State: state, Target: target, From: from})
}

// begin records that an import is running, so that an interrupted one is noticed.
func (im *importer) begin(ctx context.Context) error {
	if im.o.DryRun {
		return nil
	}
	o := im.memory.origin
	o.State = ""
	err := im.w.Update(ctx, func(tx *workspace.Tx) error { tx.PutOrigin(&o); return nil })
	if err == nil {
		im.origin = o
	}
	return err
}

// finish records that the import is complete, and reports files and assets that are gone.
func (im *importer) finish(ctx context.Context) error {
	m := im.memory
	var forget []string
	for _, at := range sortedKeys(m.rows) {
		row := m.rows[at]
		if row.Kind == assetKind {
			if !im.isReferenced(at) {
				im.checkAsset(at, row, &forget)
			}
			continue
		}
		if m.present[at] {
			continue
		}
		if _, exists := m.inVault[row.Target]; exists {
			im.state(at, row.Kind, Gone, row.Target, "")
		} else {
			forget = append(forget, at)
		}
	}
	if m.wasCompleted() {
		im.keepNewProblems()
	} else {
		im.reportUnlinked()
	}
	if im.o.DryRun {
		return nil
	}
	return im.w.Update(ctx, func(tx *workspace.Tx) error {
		for _, at := range forget {
			tx.RemoveImported(im.origin.N, at)
		}
		m.links = im.linkHash() // with the attachments that are new
		im.origin.State = im.folderHash() + " " + m.links
		switch {
		case im.skipped || im.report.Count(Closed) > 0:
			im.origin.State = "closed" // all pages are read again, until the notebook is open
		case im.report.Count(Conflict) > 0:
			im.origin.State = "conflicts " + m.links // conflicts are reported each time
		}
		tx.PutOrigin(&im.origin)
		return nil
	})
}

// keepNewProblems drops the problems of files that were not written, since an earlier import reported them.
func (im *importer) keepNewProblems() {
	quiet := map[string]bool{}
	for _, f := range im.report.States {
		if f.State == Unchanged || f.State == Removed {
			quiet[strings.TrimSuffix(f.Path, "/")] = true
		}
	}
	im.report.Problems = slices.DeleteFunc(im.report.Problems, func(p Problem) bool { return quiet[p.Path] && p.Code != codeFileKept })
}

// layOut decides which notebooks to import, and which document each file becomes.
func (im *importer) layOut(name string) error {
	if im.o.Notebook != "" {
		name = im.o.Notebook
	}
	mark, err := readMarker(im.s.root)
	if err != nil {
		return err
	}
	im.mark = mark
	if im.sync == nil || !im.sync.isKnown { // notes may have names by which a folder looks like that of another program
		im.program = im.s.detectProgram()
	}
	inExport := func(string) bool { return false }
	if mark != nil {
		if im.o.Notebook != "" && len(mark.Notebooks) != 1 {
			return errors.New("the folder is an export of several notebooks: import it without a name for one")
		}
		if !mark.Complete {
			im.report.problem(MarkerName, 0, codeIncomplete, MarkerName, "the export was interrupted: documents may be missing")
		}
		folders := map[string]bool{}
		for i := range mark.Notebooks {
			k := &mark.Notebooks[i]
			folders[k.Folder] = true
			pl := &notebookPlan{
				name: k.Conf.Name, exported: k, assets: k.Folder + "/" + assetsDir + "/", databases: k.Folder + "/" + databasesDir + "/",
				cards: k.Folder + "/" + cardsFile,
			}
			if im.o.Notebook != "" {
				pl.name = im.o.Notebook
			}
			im.plans = append(im.plans, pl)
			for at := range im.s.files {
				if strings.HasPrefix(at, pl.assets) || strings.HasPrefix(at, pl.databases) || at == pl.cards {
					im.claimed[at] = true
				}
			}
			exclude := func(at string) bool { return im.claimed[at] }
			im.pages = append(im.pages, im.s.layOut(pl, k.Folder, exclude, foreignProgram{dialect: ownDialect})...)
			if at := k.Folder + ".md"; im.s.has(at) {
				pl.page = &page{file: at, name: stem(at), plan: pl, dialect: ownDialect, modified: im.s.files[at].changed}
				im.pages = append(im.pages, pl.page)
			}
		}
		inExport = func(at string) bool {
			top, _, inFolder := strings.Cut(at, "/")
			return inFolder && folders[top] || !inFolder && folders[stem(at)]
		}
	}
	remaining := &notebookPlan{name: name}
	if pages := im.s.layOut(remaining, ".", inExport, im.program); len(pages) > 0 || mark == nil {
		im.pages = append(im.pages, pages...)
		im.plans = append(im.plans, remaining)
	}
	liftDeepPages(im.pages, im.report)
	return nil
}
