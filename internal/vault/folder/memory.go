package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
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
)

// importMemory is what the vault recorded in earlier imports of a folder.
type importMemory struct {
	origin   workspace.Origin
	place    string                         // of the origin, when it was last imported
	rows     map[string]*workspace.Imported // by path
	byTarget map[string]*workspace.Imported // rows of pages, by document id
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
			hash = im.s.hash(at, maxAsset)
		}
		writeTexts(sum, at, hash)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// linkHash returns a hash of everything that decides where links lead.
func (im *importer) linkHash() string {
	sum := sha256.New()
	writeTexts(sum, converterVersion)
	for _, at := range sortedKeys(im.s.files) {
		if !isPage(at) {
			writeTexts(sum, at)
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
