package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"collie/internal/vault/workspace"
)

// converterVersion must be incremented when a file would be converted differently than before, so that unchanged files
// are imported again.
const converterVersion = "1"

// The kinds of what was imported.
const (
	pageKind  = "page"
	assetKind = "asset"
	// writingKind is what a page will be once a sync has written its file; see [exportPhase.writeFiles].
	writingKind = "writing"
	// formerKind is what a page was before it got another name or place; see [syncer.recordFormer].
	formerKind = "former"
)

// importMemory is what the vault recorded in earlier imports of a folder.
type importMemory struct {
	origin   workspace.Origin
	place    string                         // of the origin, when it was last imported
	rows     map[string]*workspace.Imported // by path
	byTarget map[string]*workspace.Imported // rows of pages, by document id
	writing  []workspace.Imported           // files that an interrupted sync was about to write
	former   []workspace.Imported           // names and places that pages had before an interrupted sync moved them
	present  map[string]bool                // paths that still exist in the folder
	inVault  map[string]bool                // documents of the vault, with true if their notebook is open
	shared   map[string]bool                // assets that belong to several files
	state    string                         // to be stored if this import completes
	links    string                         // hash of everything by which links are resolved
}

// isFirstImport reports whether nothing was imported from the place yet.
func (m *importMemory) isFirstImport() bool { return m.origin.N == 0 }

// wasCompleted reports whether the last import from the place was completed.
func (m *importMemory) wasCompleted() bool { return m.origin.State != "" }

// loadMemory reads what earlier imports of the folder have recorded.
func (im *importer) loadMemory(tx *workspace.Tx, at string) error {
	m := &importMemory{
		rows: map[string]*workspace.Imported{}, byTarget: map[string]*workspace.Imported{}, present: map[string]bool{},
		inVault: map[string]bool{}, shared: map[string]bool{},
	}
	im.memory = m
	if err := im.chooseOrigin(tx, at); err != nil {
		return err
	}
	m.place, m.origin.Place = m.origin.Place, at
	if m.origin.N != 0 {
		for _, row := range tx.Imported(m.origin.N) {
			switch row.Kind {
			case writingKind:
				m.writing = append(m.writing, row)
				continue
			case formerKind:
				m.former = append(m.former, row)
				continue
			}
			m.rows[row.Path] = &row
			if row.Kind == pageKind {
				m.byTarget[row.Target] = &row
			}
		}
		tx.Rows(func(row workspace.Row) bool {
			m.shared[row.Text(0)] = true
			return true
		}, "SELECT target FROM imported WHERE kind = 'asset' GROUP BY target HAVING count(*) > 1")
	}
	m.findExisting(tx, sortedKeys(m.byTarget))
	return nil
}

// findExisting records which of the documents the vault has, and whether their notebook is open.
func (m *importMemory) findExisting(tx *workspace.Tx, ids []string) {
	for chunk := range slices.Chunk(ids, 5000) {
		tx.Rows(func(row workspace.Row) bool {
			m.inVault[row.Text(0)] = row.Int(1) == 0
			return true
		}, `SELECT document.id, closed FROM document JOIN notebook ON notebook.id = document.box
			WHERE document.id IN (SELECT value FROM json_each(?))`, mustJSON(chunk))
	}
}

// hashPages hashes the files of all pages.
func (im *importer) hashPages(ctx context.Context) error {
	for _, pg := range im.pages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if pg.file != "" {
			pg.source = im.s.hash(pg.file, maxPage)
		}
	}
	return nil
}

// hash returns the hash of a file, "" if it cannot be read.
func (s *source) hash(at string, limit int64) string {
	if s.files[at].size > limit {
		return ""
	}
	if s.packed != nil {
		data, err := s.read(at, limit)
		if err != nil {
			return ""
		}
		return hashOf(data)
	}
	f, err := s.root.Open(at)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// folderHash returns a hash of everything in the folder that an import depends on: names of files, texts of pages, and
// the imported attachments. If it has not changed, there is nothing to import.
func (im *importer) folderHash() string {
	sum := sha256.New()
	writeTexts(sum, converterVersion)
	bySource := map[string]string{}
	for _, pg := range im.pages {
		if pg.file != "" {
			bySource[pg.file] = pg.source
		}
	}
	for _, at := range sortedKeys(im.s.files) {
		hash, isPage := bySource[at]
		if row := im.memory.rows[at]; !isPage && (row != nil || im.claimed[at]) {
			hash = im.hashOnce(at)
		}
		writeTexts(sum, at, hash)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// linkHash returns a hash of everything that decides where links lead. The contents of attachments are among it: they are
// imported while a page that shows them is read, and may get another address.
func (im *importer) linkHash() string {
	sum := sha256.New()
	writeTexts(sum, converterVersion)
	for _, at := range sortedKeys(im.s.files) {
		if !isPage(at) {
			writeTexts(sum, at, im.attachmentHash(at))
		}
	}
	for _, pg := range im.pages {
		writeTexts(sum, pg.path(), pg.id, pg.title)
		writeTexts(sum, pg.front.aliases...)
		for _, key := range sortedKeys(pg.headings) {
			writeTexts(sum, "h", key, pg.headings[key])
		}
		for _, key := range sortedKeys(pg.anchors) {
			writeTexts(sum, "a", key, pg.anchors[key])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// attachmentHash returns the hash of a file that has become an asset; "" for others.
func (im *importer) attachmentHash(at string) string {
	row := im.memory.rows[at]
	if row == nil || row.Kind != assetKind {
		return ""
	}
	if _, exists := im.assetHashes[row.Target]; !exists && im.o.Theirs {
		return "" // its pages are read again and bring it back
	}
	return im.hashOnce(at)
}

// hashOnce returns the hash that a file had when this import looked first. What changes later is for the next import.
func (im *importer) hashOnce(at string) string {
	if im.fileHashes[at] == "" {
		im.fileHashes[at] = im.s.hash(at, maxAsset)
	}
	return im.fileHashes[at]
}

// rowPath returns the path under which a page is remembered.
func (p *page) rowPath() string {
	if p.file != "" {
		return p.file
	}
	return p.dir + "/"
}

// linkedNames returns the ids in a page that links refer to.
func (p *page) linkedNames() map[string]string {
	names := map[string]string{}
	for key, id := range p.headings {
		names["h:"+key] = id
	}
	for key, id := range p.anchors {
		names["a:"+key] = id
	}
	return names
}

// ErrCopy is the error for a copy of a folder that was imported from another place, which still exists.
var ErrCopy = errors.New("the folder was imported before, from another place")

// ErrNotebook is the error for a folder that was imported into another notebook.
var ErrNotebook = errors.New("the folder was imported before, into another notebook")

// ErrNoOrigin is the error for a place that nothing was imported from.
var ErrNoOrigin = errors.New("nothing was imported from that place")

// PlaceOf returns the path under which a folder or file is remembered: absolute, with symbolic links resolved if
// possible.
func PlaceOf(at string) (string, error) {
	at, err := filepath.Abs(at)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	return at, nil
}

// chooseOrigin selects the earlier import that this one updates, among all recorded ones.
func (im *importer) chooseOrigin(tx *workspace.Tx, at string) error {
	if im.o.Copy {
		return nil
	}
	name := func(o workspace.Origin) string {
		if box := tx.Notebook(o.Notebook); box != nil {
			return box.Conf.Name
		}
		return ""
	}
	var candidates []workspace.Origin
	origins := tx.Origins()
	from := at
	if im.o.MovedFrom != "" {
		from = im.o.MovedFrom
	}
	for _, o := range origins {
		if o.Place == from {
			candidates = append(candidates, o)
		}
	}
	if len(candidates) == 0 && im.o.MovedFrom != "" {
		return fmt.Errorf("%w: %s", ErrNoOrigin, im.o.MovedFrom)
	}
	for _, o := range candidates {
		if im.o.Notebook == "" || name(o) == "" || name(o) == im.o.Notebook {
			im.memory.origin = o
			return nil
		}
	}
	if len(candidates) > 0 {
		return fmt.Errorf("%w, %q", ErrNotebook, name(candidates[0]))
	}
	if im.mark != nil || im.hasIDs {
		return nil // its documents are found by id wherever they are
	}
	return im.findMovedPlace(tx, origins)
}

// findMovedPlace looks for a recorded place whose folder may have been moved here: one with the same content in more
// than half of this folder's pages. If that folder still exists, this one is a copy: the error wraps [ErrCopy].
func (im *importer) findMovedPlace(tx *workspace.Tx, origins []workspace.Origin) error {
	pages := 0
	for _, pg := range im.pages {
		if pg.identifiesFolder() {
			pages++
		}
	}
	for _, o := range origins {
		rows := map[string]string{}
		for _, row := range tx.Imported(o.N) {
			rows[row.Path] = row.Source
		}
		match := 0
		for _, pg := range im.pages {
			if pg.identifiesFolder() && rows[pg.file] == pg.source {
				match++
			}
		}
		if match*2 <= pages || match == 0 {
			continue
		}
		if _, err := os.Lstat(o.Place); err == nil {
			if im.sync != nil {
				continue // a folder of its own from now on
			}
			return fmt.Errorf("%w: %s, which is still there and has %d of these %d files", ErrCopy, o.Place, match, pages)
		}
		im.report.From = o.Place
		im.memory.origin = o
		return nil
	}
	return nil
}

// identifiesFolder reports whether a page can identify the place its folder came from.
func (p *page) identifiesFolder() bool { return p.file != "" && p.size > 0 && p.source != "" }
