package folder

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"collie/internal/vault/workspace"
)

// exportPhase is the half of a sync that writes files. It works on the planned folder: each page has the path that its
// file will have, and links are resolved among these paths.
type exportPhase struct {
	*syncer
	ex      *importer // reads pages of the planned folder; never writes
	before  *importer // reads pages of the folder as it was read, nil until it is needed; never writes
	origin  int64
	rows    map[string]*workspace.Imported // records of imported pages, by document
	pages   map[string]*page               // pages of the planned folder, by document
	read    map[string]*page               // pages of the folder as it was read, by document
	current map[string]string              // paths of existing files, by document; "" for a folder without a file
	// anchors are the ^names of blocks, by id. headings are the texts by which links refer to headings.
	anchors  map[string]string
	headings map[string]string
	keepIDs  map[string]bool   // referenced blocks that cannot have a ^name, so their ids are written
	owner    map[string]string // documents of the blocks that are referenced, by block
	assets   map[string]string // paths of attachments, by address
	names    map[string]folderNames
	todo     map[string]bool // documents that may have to be written
	pending  []func(tx *workspace.Tx)
	done     int
	// writes are files that are composed and not written yet, with writeBytes bytes of old and new texts.
	writes     []fileWrite
	writeBytes int
}

// export writes the files of documents that have changed since the last sync.
func (s *syncer) export(ctx context.Context) error {
	if s.o.DryRun {
		return s.reportPlanned(ctx)
	}
	x := &exportPhase{
		syncer: s, origin: s.im.origin.N, rows: map[string]*workspace.Imported{}, pages: map[string]*page{}, read: map[string]*page{}, current: map[string]string{},
		anchors: map[string]string{}, headings: map[string]string{}, keepIDs: map[string]bool{}, owner: map[string]string{},
		assets: map[string]string{}, names: map[string]folderNames{}, todo: map[string]bool{},
	}
	if err := s.w.View(ctx, func(tx *workspace.Tx) error {
		box := tx.Notebook(s.im.origin.Notebook)
		if box == nil && s.box != nil {
			box = tx.Notebook(s.box.ID)
		}
		if box == nil {
			for _, b := range tx.Notebooks() {
				if b.Conf.Name == s.im.plans[0].name {
					box = b
				}
			}
		}
		if box == nil {
			return errors.New("the notebook went away during the sync")
		}
		s.box = box
		s.report.Notebook, s.report.Name = box.ID, box.Conf.Name
		s.loadDocuments(tx)
		s.synced = tx.Synced(x.origin)
		x.load(tx)
		return tx.Err()
	}); err != nil {
		return err
	}
	if err := x.removeFiles(); err != nil {
		return err
	}
	x.layOut()
	if err := s.w.View(ctx, func(tx *workspace.Tx) error {
		x.chooseDocuments(tx)
		return tx.Err()
	}); err != nil {
		return err
	}
	if err := x.write(ctx); err != nil {
		return errors.Join(err, x.flush(context.WithoutCancel(ctx)))
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	return x.writeAssets(ctx)
}

// reportPlanned reports for a dry run which files would be written.
func (s *syncer) reportPlanned(ctx context.Context) error {
	for _, at := range sortedKeys(s.deleteFiles) {
		s.im.state(at, pageKind, FileDeleted, "", "")
	}
	if s.box == nil {
		return nil
	}
	taken := map[string]bool{}
	for _, f := range s.report.States {
		switch f.State {
		case Updated, BothKept, Added, Restored, DocDeleted, HeldBack:
			taken[f.Target] = true
		}
	}
	return s.w.View(ctx, func(tx *workspace.Tx) error {
		rows := map[string]*workspace.Imported{}
		for _, row := range s.im.memory.rows {
			if row.Kind == pageKind {
				rows[row.Target] = row
			}
		}
		adopted := map[string]bool{}
		for _, pg := range s.im.pages {
			adopted[pg.id] = true
		}
		for _, d := range s.docs {
			row := rows[d.id]
			switch {
			case taken[d.id]:
			case row == nil && !adopted[d.id]:
				s.im.state(d.title+".md", pageKind, FileWritten, d.id, "")
			case row == nil:
			case d.title != row.Title || d.parent != row.Parent:
				s.im.state(row.Path, pageKind, FileRenamed, d.id, "")
			case s.hasChanged(tx, d, row):
				s.im.state(row.Path, pageKind, FileUpdated, d.id, "")
			}
		}
		return tx.Err()
	})
}

// load reads the records of the import that has just ended, and which blocks are referenced.
func (x *exportPhase) load(tx *workspace.Tx) {
	for _, row := range tx.Imported(x.origin) {
		switch row.Kind {
		case assetKind:
			x.assets[row.Target] = row.Path
			continue
		case writingKind, formerKind:
			continue
		}
		x.rows[row.Target] = &row
	}
	tx.Rows(func(row workspace.Row) bool {
		x.owner[row.Text(0)] = row.Text(1)
		return true
	}, `SELECT DISTINCT ref.def, document.id FROM ref JOIN node ON node.id = ref.def JOIN document ON document.n = node.doc
		WHERE document.box = ?`, x.box.ID)
}

// removeFiles removes the files of deleted documents.
func (x *exportPhase) removeFiles() error {
	for _, at := range sortedKeys(x.deleteFiles) {
		pg := x.pageOf(at)
		if x.byID[pg.id] != nil || x.im.s.hash(at, maxPage) != pg.source {
			continue // the document is back, or the file has changed since
		}
		if err := x.im.s.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			x.im.report.problem(at, 0, codeFileKept, path.Base(at), plainError(err)+": its document is gone")
			continue
		}
		x.wrote = true
		x.removeEmptyDirs(path.Dir(at))
		delete(x.im.s.files, at)
		x.pending = append(x.pending, func(tx *workspace.Tx) { tx.RemoveImported(x.origin, at) })
		x.im.state(at, pageKind, FileDeleted, pg.id, "")
	}
	// Also remove the records of files that are gone on both sides.
	for _, at := range sortedKeys(x.im.memory.rows) {
		row := x.im.memory.rows[at]
		if row.Kind == pageKind && x.byID[row.Target] == nil && !x.im.s.has(at) {
			x.pending = append(x.pending, func(tx *workspace.Tx) { tx.RemoveImported(x.origin, at) })
		}
	}
	return nil
}

// removeEmptyDirs removes a folder and those above it, up to the first that is not empty.
func (x *exportPhase) removeEmptyDirs(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if x.im.s.root.Remove(dir) != nil {
			return // not empty
		}
	}
}

func (x *exportPhase) pageOf(at string) *page {
	for _, pg := range x.im.pages {
		if pg.file == at {
			return pg
		}
	}
	return &page{}
}

// recordState records the state of a document at the next flush. at is the path of its file.
func (x *exportPhase) recordState(at string, state workspace.Synced) {
	x.pending = append(x.pending, func(tx *workspace.Tx) { tx.PutSynced(x.origin, at, state) })
}

// flush stores the pending records in the vault.
func (x *exportPhase) flush(ctx context.Context) error {
	if len(x.pending) == 0 {
		return nil
	}
	list := x.pending
	x.pending = nil
	return x.w.Update(ctx, func(tx *workspace.Tx) error {
		for _, do := range list {
			do(tx)
		}
		return tx.Err()
	})
}
