package folder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// maxPage is the largest file that becomes a document.
const maxPage = 16 << 20

// ImportOptions say how a folder is imported. The zero value is for everyday use.
type ImportOptions struct {
	// Notebook is the name of the notebook the documents go to; "" means the base name of the folder. An open notebook of
	// this name takes them, or else a new one. A folder that Export wrote brings its own notebooks; a name is then only
	// allowed if it is one.
	Notebook string
	// Progress is told, after each file, how many of all are done; nil for nobody.
	Progress func(done, total int, name string)
}

// Import reads a folder of Markdown files into the vault: see the package for what it understands. An error means that
// the folder or the vault cannot be worked with at all, or that ctx has ended; all else is a problem of the report.
//
// It works in transactions of a few documents each, parents before children. An import that is interrupted leaves
// whole documents: those before the interruption, with their assets, in a notebook that is open. References to
// documents that were not reached name nothing yet. The report that comes with the error says how far it got.
func Import(ctx context.Context, w *workspace.Workspace, dir string, o ImportOptions) (Report, error) {
	im := &importer{
		w: w, o: o, report: &Report{}, assets: map[string]string{}, held: map[string][]string{}, taken: map[string]bool{},
		claimed: map[string]bool{}, minted: map[string]bool{}, renamed: map[string]string{},
	}
	err := im.run(ctx, dir)
	im.report.sort()
	return *im.report, err
}

// importer is one import.
type importer struct {
	w      *workspace.Workspace
	o      ImportOptions
	report *Report
	s      *source
	plans  []*plan
	pages  []*page
	index  *index

	assets  map[string]string   // addresses by path in the folder, "" for what cannot be one
	held    map[string][]string // addresses of assets in the vault by hash
	taken   map[string]bool     // those addresses
	claimed map[string]bool     // files that are something else than attachments
	minted  map[string]bool
	renamed map[string]string // ids that the vault has, and the new ones
	batch   batch
	done    int
}

func (im *importer) run(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
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
	for _, pg := range im.pages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		im.survey(pg)
	}
	if err := im.w.View(ctx, func(tx *workspace.Tx) error {
		im.heldAssets(tx)
		im.settle(tx)
		return nil
	}); err != nil {
		return err
	}
	im.index = newIndex(im.pages)
	for _, pl := range im.plans {
		order(pl.top)
	}
	for _, pl := range slices.Backward(im.plans) { // each new notebook goes before the others
		if err := im.writePlan(ctx, pl); err != nil {
			return err
		}
	}
	im.leftOut()
	return nil
}

// layOut decides which notebooks there are to be, and where which file lies in them.
func (im *importer) layOut(name string) error {
	if im.o.Notebook != "" {
		name = im.o.Notebook
	}
	mark, err := readMarker(im.s.root)
	if err != nil {
		return err
	}
	kind := plain
	if im.s.isLogseq() {
		kind = logseq
	}
	inExport := func(string) bool { return false }
	if mark != nil {
		if im.o.Notebook != "" && len(mark.Notebooks) != 1 {
			return errors.New("the folder is an export of several notebooks: import it without a name for one")
		}
		if !mark.Complete {
			im.report.problem(MarkerName, 0, Incomplete, MarkerName, "the export was interrupted: documents may be missing")
		}
		folders := map[string]bool{}
		for i := range mark.Notebooks {
			k := &mark.Notebooks[i]
			folders[k.Folder] = true
			pl := &plan{name: k.Conf.Name, kept: k}
			if im.o.Notebook != "" {
				pl.name = im.o.Notebook
			}
			im.plans = append(im.plans, pl)
			beside := []string{k.Folder + "/" + assetsDir + "/", k.Folder + "/" + databasesDir + "/"}
			for at := range im.s.files {
				if strings.HasPrefix(at, beside[0]) || strings.HasPrefix(at, beside[1]) || at == k.Folder+"/"+cardsFile {
					im.claimed[at] = true
				}
			}
			without := func(at string) bool { return im.claimed[at] }
			im.pages = append(im.pages, im.s.layOut(pl, k.Folder, without, ours, im.report)...)
			if at := k.Folder + ".md"; im.s.has(at) {
				pl.page = &page{file: at, name: stem(at), plan: pl, dialect: ours, modified: im.s.files[at].changed}
				im.pages = append(im.pages, pl.page)
			}
		}
		inExport = func(at string) bool {
			top, _, below := strings.Cut(at, "/")
			return below && folders[top] || !below && folders[stem(at)]
		}
	}
	rest := &plan{name: name}
	if pages := im.s.layOut(rest, ".", inExport, kind, im.report); len(pages) > 0 || mark == nil {
		im.pages = append(im.pages, pages...)
		im.plans = append(im.plans, rest)
	}
	raise(im.pages, im.report)
	return nil
}

// survey reads a page for what others need to know of it.
func (im *importer) survey(pg *page) {
	list, ok := im.open(pg, true)
	if !ok {
		pg.broken = true
		return
	}
	pg.title = im.titleOf(pg)
	pg.survey(list, im.mint)
}

// open reads the lines of a page, without its front matter. Problems are told the first time.
func (im *importer) open(pg *page, first bool) ([]line, bool) {
	if pg.file == "" {
		return nil, true
	}
	problem := func(line int, code, what, why string) {
		if first {
			im.report.problem(pg.file, line, code, what, why)
		}
	}
	data, err := im.s.read(pg.file, maxPage)
	switch {
	case errors.Is(err, errTooLarge):
		problem(0, TooLarge, path.Base(pg.file), fmt.Sprintf("the file has more than %d MiB: left out", maxPage>>20))
		return nil, false
	case err != nil:
		problem(0, Unreadable, path.Base(pg.file), plainError(err)+": left out")
		return nil, false
	}
	text, guessed, code := decode(data)
	switch {
	case code == Binary:
		problem(0, code, path.Base(pg.file), "the file holds no text: left out")
		return nil, false
	case code == Encoding:
		problem(0, code, path.Base(pg.file), "the text is neither UTF-8 nor UTF-16 nor GB18030: left out; convert it to UTF-8")
		return nil, false
	case guessed != "":
		problem(0, EncodingGuessed, path.Base(pg.file), "the text is not UTF-8: read as "+guessed)
	}
	return im.split(pg, text, first, problem), true
}

// split takes the front matter off a page.
func (im *importer) split(pg *page, text string, first bool, problem func(int, string, string, string)) []line {
	yamlText, body, n, found := cutFront(text)
	kept := pg.front.aliases
	f := front{attrs: map[string]string{}}
	if found {
		var err error
		f, err = parseFront(yamlText, func(line int, key, why string) { problem(line+1, FrontMatterKey, key, why) })
		if err != nil {
			problem(1, FrontMatter, "front matter", err.Error()+": kept as code")
			fence := "```"
			for strings.Contains(yamlText, fence) {
				fence += "`"
			}
			f = front{attrs: map[string]string{}}
			body, n = fence+"yaml\n"+strings.TrimSuffix(yamlText, "\n")+"\n"+fence+"\n"+body, n-strings.Count(yamlText, "\n")-2
		}
	}
	if pg.dialect == ours && f.id == "" {
		pg.dialect = plain // somebody put it there
	}
	if pg.dialect == logseq {
		var lines int
		body, lines = pageProperties(&f, body)
		n += lines
	}
	if first {
		f.aliases = append(f.aliases, kept...)
		pg.front = f
	}
	if pg.dialect == ours {
		return normalizedAs(body, n+1)
	}
	return normalized(body, n+1)
}

// titleOf is the title of a page: that of its front matter, or its name.
func (im *importer) titleOf(pg *page) string {
	title := pg.front.title
	if title == "" {
		title = pg.name
	}
	if pg.dialect == ours {
		return title
	}
	clean := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unseen(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(title, ""))), " ")
	clean = strings.ReplaceAll(clean, "/", "-")
	if runes := []rune(clean); len(runes) > maxTitle {
		clean = string(runes[:maxTitle])
	}
	if clean == "" {
		clean = "Untitled"
	}
	if clean != title {
		im.report.problem(pg.path(), 0, TitleChanged, title, "a title has one line of at most 512 characters and no slash")
	}
	return clean
}

const maxTitle = 512

// settle decides on all ids. Those that the vault or another page has are given up for new ones.
func (im *importer) settle(tx *workspace.Tx) {
	seen := map[string]bool{}
	var all []string
	for _, pg := range im.pages {
		all = append(all, pg.defined...)
		if pg.front.id != "" {
			all = append(all, pg.front.id)
		}
	}
	for _, pl := range im.plans {
		if pl.kept != nil {
			all = append(all, pl.kept.ID)
		}
	}
	known := im.knownIDs(tx, all)
	settle := func(pg *page, id, what string) string {
		switch {
		case known[id]:
			if im.renamed[id] == "" {
				im.renamed[id] = im.mint(id[:14])
				im.report.problem(pg.path(), 0, IDTaken, id, "the vault has this id already: "+what+" got a new one")
			}
			if !seen[im.renamed[id]] {
				seen[im.renamed[id]] = true
				return im.renamed[id]
			}
		case !seen[id]:
			seen[id] = true
			return id
		}
		fresh := im.mint(id[:14])
		pg.renamed[id] = fresh
		im.report.problem(pg.path(), 0, IDTaken, id, "another block of the folder has this id: "+what+" got a new one")
		return fresh
	}
	for _, pl := range im.plans {
		if pl.kept == nil || !tree.ValidID(pl.kept.ID) {
			continue
		}
		if pl.id = pl.kept.ID; known[pl.id] {
			im.renamed[pl.id] = im.mint(pl.id[:14])
			im.report.problem(pl.kept.Folder, 0, IDTaken, pl.id, "the vault has this notebook already: the new one got another id")
			pl.id = im.renamed[pl.id]
		}
		seen[pl.id] = true
	}
	for _, pg := range im.pages {
		pg.renamed = map[string]string{}
		switch {
		case pg.plan.page == pg:
			pg.id = pg.plan.id
			continue
		case pg.front.id != "":
			pg.id = settle(pg, pg.front.id, "the document")
		default:
			created, _ := pg.stamps()
			pg.id = im.mint(created)
		}
	}
	for _, pg := range im.pages {
		defined := slices.Clone(pg.defined)
		slices.Sort(defined)
		for _, id := range slices.Compact(defined) {
			settle(pg, id, "the block")
		}
	}
}

// knownIDs are those of ids that the vault has.
func (im *importer) knownIDs(tx *workspace.Tx, ids []string) map[string]bool {
	known := map[string]bool{}
	for some := range slices.Chunk(ids, 5000) {
		tx.Rows(func(row workspace.Row) bool {
			known[row.Text(0)] = true
			return true
		}, `SELECT id FROM node WHERE id IN (SELECT value FROM json_each(?1)) UNION SELECT id FROM notebook WHERE id IN (SELECT value FROM json_each(?1))`,
			mustJSON(some))
	}
	return known
}

// mint makes an id of a time that nothing of this import has.
func (im *importer) mint(stamp string) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	for {
		tail := make([]byte, 7)
		for i := range tail {
			tail[i] = digits[rand.IntN(len(digits))]
		}
		if id := stamp + "-" + string(tail); !im.minted[id] {
			im.minted[id] = true
			return id
		}
	}
}
