package folder

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file imports archives (.sy.zip) of SiYuan.

// The limits of an archive.
const (
	maxEntries = 500_000
	maxSY      = 128 << 20 // bytes of one document
	// bombSize and bombRatio recognize zip bombs: entries that claim more than bombSize bytes, and more than bombRatio
	// times their packed size. See isZipBomb.
	bombSize  = 64 << 20
	bombRatio = 200
)

// ErrNoArchive is the error for a file that is not an archive of SiYuan.
var ErrNoArchive = errors.New("it is no .sy.zip of SiYuan")

// ImportSiYuan imports an archive (.sy.zip) written by SiYuan or ExportSiYuan: a notebook, which keeps its id, or a
// document with those below it, which go to the notebook in the options. Blocks keep ids and attributes. Otherwise it
// is like [Import]. Such archives have no flashcards; the report names the blocks that were cards.
func ImportSiYuan(ctx context.Context, w *workspace.Workspace, file string, o ImportOptions) (Report, error) {
	im := newImporter(w, o)
	err := im.runArchive(ctx, file)
	im.report.sort()
	return *im.report, err
}

// runArchive reads an archive, plans what becomes of its files, and writes the documents.
func (im *importer) runArchive(ctx context.Context, file string) error {
	file, err := PlaceOf(file)
	if err != nil {
		return err
	}
	r, err := zip.OpenReader(file)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = fmt.Errorf("%w: it is not a zip archive", ErrNoArchive)
		}
		return fmt.Errorf("read the archive %s: %w", file, err)
	}
	defer r.Close()
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	a := archiveImport{im: im, pages: map[string]*page{}}
	if err := a.list(&r.Reader, info.Size()); err != nil {
		return fmt.Errorf("read the archive %s: %w", file, err)
	}
	if err := a.layOut(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".zip"), ".sy")); err != nil {
		return fmt.Errorf("read the archive %s: %w", file, err)
	}
	for _, pg := range im.pages {
		if pg.source = im.s.hash(pg.file, maxSY); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return im.writePages(ctx, file)
}

// archiveImport is an archive being read.
type archiveImport struct {
	im    *importer
	top   string
	pages map[string]*page // by path without .sy
}

// list reads the entries of an archive of size bytes. It refuses archives that may be hostile: with paths that lead
// elsewhere, entries that occur twice or are encrypted, or zip bombs.
func (a *archiveImport) list(r *zip.Reader, size int64) error {
	if len(r.File) > maxEntries {
		return fmt.Errorf("it has %d entries, the limit is %d", len(r.File), maxEntries)
	}
	s := &source{files: map[string]foundFile{}, base: map[string][]string{}, dirs: map[string]bool{}, packed: map[string]*zip.File{}}
	a.im.s = s
	seen, unpacked := map[string]bool{}, uint64(0)
	for _, f := range r.File {
		name := strings.TrimSuffix(f.Name, "/")
		switch mode := f.Mode(); {
		case !fs.ValidPath(name) || strings.ContainsAny(name, `\:`) || strings.ContainsFunc(name, tree.IsInvisible):
			return fmt.Errorf("the entry %q leads elsewhere: nothing was imported", f.Name)
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			return fmt.Errorf("the entry %q is not an ordinary file: nothing was imported", f.Name)
		case seen[name]:
			return fmt.Errorf("the entry %q is there twice: nothing was imported", f.Name)
		case isZipBomb(f.UncompressedSize64, f.CompressedSize64):
			return fmt.Errorf("the entry %q claims %d bytes out of %d: nothing was imported", f.Name, f.UncompressedSize64, f.CompressedSize64)
		case f.Flags&1 != 0:
			return fmt.Errorf("the entry %q is encrypted: nothing was imported", f.Name)
		}
		top, _, inFolder := strings.Cut(name, "/")
		if !inFolder || a.top != "" && top != a.top {
			return fmt.Errorf("%w: expected one folder with all in it, there is %q", ErrNoArchive, name)
		}
		a.top, seen[name] = top, true
		s.files[name] = foundFile{int64(min(f.UncompressedSize64, 1<<62)), f.Modified}
		s.packed[name] = f
		if unpacked += min(f.UncompressedSize64, 1<<40); isZipBomb(unpacked, uint64(size)) {
			return fmt.Errorf("its entries claim more than %d bytes, and it has %d: nothing was imported", unpacked, size)
		}
	}
	return nil
}

// isZipBomb reports whether the ratio of unpacked to packed bytes is implausible for notes.
func isZipBomb(unpacked, packed uint64) bool {
	return unpacked > bombSize && unpacked/bombRatio > packed
}

// layOut creates the pages of the documents.
func (a *archiveImport) layOut(name string) error {
	im := a.im
	pl := &notebookPlan{name: name, assets: a.top + "/" + assetsDir + "/", databases: a.top + "/storage/av/"}
	if im.o.Notebook != "" {
		pl.name = im.o.Notebook
	}
	a.readNotebookSettings(pl)
	sort := map[string]int{}
	if data, err := im.s.read(a.top+"/.siyuan/sort.json", maxMarker); err == nil && json.Unmarshal(data, &sort) != nil {
		im.report.problem(a.top+"/.siyuan/sort.json", 0, codeUnreadable, "sort.json", "it is not JSON: the documents are in the order of their names")
	}
	for _, at := range sortedKeys(im.s.files) {
		switch {
		case strings.HasPrefix(at, a.top+"/.siyuan/"), strings.HasPrefix(at, pl.assets), strings.HasPrefix(at, pl.databases):
			im.claimed[at] = true
		case path.Ext(at) == ".sy":
			im.claimed[at] = true
			a.page(pl, at, sort)
		}
	}
	if len(a.pages) == 0 {
		return fmt.Errorf("%w: there is no document (.sy) in it; a folder of Markdown is imported unpacked", ErrNoArchive)
	}
	for _, dir := range sortedKeys(a.pages) {
		a.addToParent(pl, a.pages[dir])
	}
	im.plans, im.hasIDs = []*notebookPlan{pl}, true
	liftDeepPages(im.pages, im.report)
	return nil
}

// readNotebookSettings reads the settings of the archive's notebook. An archive of a document has none.
func (a *archiveImport) readNotebookSettings(pl *notebookPlan) {
	data, err := a.im.s.read(a.top+"/.siyuan/conf.json", maxMarker)
	if err != nil {
		return
	}
	k := exportedNotebook{Folder: a.top, Conf: tree.NewConf(a.top)}
	if err := json.Unmarshal(data, &k.Conf); err != nil {
		a.im.report.problem(a.top+"/.siyuan/conf.json", 0, codeUnreadable, "conf.json", "it is not JSON: the notebook has the settings of a new one")
		k.Conf = tree.NewConf(a.top)
	}
	k.Conf.Closed, k.Conf.Encrypted, k.Conf.BoxCrypt = false, false, nil // SiYuan closes it for the export
	if a.im.o.Notebook == "" && k.Conf.Name != "" {
		pl.name = a.im.tidyTitle(a.top+"/.siyuan/conf.json", k.Conf.Name)
	}
	var box struct{ BoxDocID string }
	if data, err := a.im.s.read(a.top+"/.siyuan/boxDoc.json", maxMarker); err == nil && json.Unmarshal(data, &box) == nil {
		k.ID = box.BoxDocID
	}
	if !tree.ValidID(k.ID) {
		return // imported into the notebook with that name
	}
	pl.exported = &k
}

// page creates the page of a document.
func (a *archiveImport) page(pl *notebookPlan, at string, sort map[string]int) {
	im := a.im
	pg := &page{file: at, name: stem(at), dir: strings.TrimSuffix(at, ".sy"), plan: pl, dialect: ownDialect, modified: im.s.files[at].changed, size: im.s.files[at].size}
	pg.load = func(altered func(id, why string)) (*tree.Block, error) {
		data, err := im.s.read(at, maxSY)
		if err != nil {
			return nil, err
		}
		return markup.ReadSY([]byte(im.rename(pg, string(data))), altered)
	}
	pg.front.sort, pg.front.sorted = sort[pg.name], sort[pg.name] != 0
	im.pages = append(im.pages, pg)
	a.pages[pg.dir] = pg
	if pl.exported != nil && pg.name == pl.exported.ID && path.Dir(at) == a.top {
		pl.page = pg
	}
}

// addToParent adds a page to the page of its folder or, if there is none, of the nearest folder above.
func (a *archiveImport) addToParent(pl *notebookPlan, pg *page) {
	if pg == pl.page {
		return
	}
	for up := path.Dir(pg.dir); up != a.top && up != "."; up = path.Dir(up) {
		parent := a.pages[up]
		if parent != nil && parent == pl.page { // nothing is below the notebook's own document
			break
		}
		if parent != nil {
			pg.parent = parent
			parent.children = append(parent.children, pg)
			return
		}
		a.im.report.problem(pg.file, 0, codeLinkMissing, path.Base(up), "the document above it is not in the archive: it lies one level higher")
	}
	pl.top = append(pl.top, pg)
}

// surveyArchived reads a document for its id, title and the ids in it.
func (im *importer) surveyArchived(pg *page) {
	root, err := pg.load(nil)
	if err != nil {
		im.report.problem(pg.file, 0, codeUnreadable, path.Base(pg.file), err.Error()+": left out")
		pg.broken = true
		return
	}
	pg.front.id, pg.front.updated = root.Attrs["id"], root.Attrs["updated"]
	pg.front.attrs = map[string]string{}
	for name, value := range root.Attrs {
		if !slices.Contains([]string{"id", "title", "type", "updated", "custom-riff-decks"}, name) {
			pg.front.attrs[name] = value
		}
	}
	if pg.title = root.Attrs["title"]; pg.title == "" {
		pg.title = "Untitled"
	}
	pg.title = im.tidyTitle(pg.file, pg.title)
	cards := 0
	root.Walk(func(b *tree.Block) {
		if id := b.Attrs["id"]; b != root && tree.ValidID(id) {
			pg.definedIDs = append(pg.definedIDs, id)
		}
		if b.Attrs["custom-riff-decks"] != "" {
			cards++
		}
	})
	if cards > 0 {
		im.report.problem(pg.file, 0, codeCard, pg.title, fmt.Sprintf("SiYuan keeps flashcards outside of archives; blocks of it that were cards: %d", cards))
	}
}

// archivedBlocks reads the blocks of a document.
func (im *importer) archivedBlocks(pg *page) []*tree.Block {
	root, err := pg.load(func(id, why string) { im.report.problem(pg.file, 0, codeChanged, cmp.Or(id, pg.title), why) })
	if err != nil {
		im.leaveOut(pg, err.Error()+": left out")
		return nil
	}
	for _, b := range root.Children {
		b.Walk(func(b *tree.Block) {
			delete(b.Attrs, "custom-riff-decks")
			im.restoreAddresses(pg, b)
		})
	}
	return root.Children
}

// readPacked reads an entry of at most limit bytes.
func readPacked(f *zip.File, limit int64) ([]byte, error) {
	rc, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	data, err := io.ReadAll(io.LimitReader(rc, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}
