package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/tree"
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

// match assigns rows of earlier imports to pages: by id, by path, or by the content of a file that is gone.
func (im *importer) match() {
	m := im.memory
	claimed := map[string]bool{}
	claim := func(pg *page, row *workspace.Imported) bool {
		if row == nil || row.Kind != pageKind || claimed[row.Target] {
			return false
		}
		pg.row = row
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
		case pg.row != nil || pg.front.id != "":
		case pg.file == "":
			claim(pg, m.rows[pg.dir+".md"]) // the file is gone, but not what was below it
		case claim(pg, m.rows[pg.dir+"/"]): // a folder that had no file has one now
			pg.from = pg.row.Path
			m.present[pg.from] = true
		case pg.size > 0:
			im.matchMoved(pg, missing[pg.source], claim)
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

// adoptExisting matches pages without a row with documents at the same path of the target notebook. This is for vaults
// from before rows existed.
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
