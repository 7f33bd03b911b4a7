package folder

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/vault/tree"
)

// planner lays out the files of a folder as documents.
type planner struct {
	s     *source
	byDir map[string]*page // pages by the folder of their children
	plan  *notebookPlan
}

// layOut creates pages for the Markdown files below base ("." for all), except those for which exclude is true.
func (s *source) layOut(pl *notebookPlan, base string, exclude func(string) bool, program foreignProgram) []*page {
	p := &planner{s: s, byDir: map[string]*page{}, plan: pl}
	var files []string
	for at := range s.files {
		if isPage(at) && (base == "." || strings.HasPrefix(at, base+"/")) && !exclude(at) {
			files = append(files, at)
		}
	}
	slices.Sort(files)
	exists := map[string]bool{}
	for _, at := range files {
		exists[at] = true
	}
	for _, at := range files {
		pg := &page{
			file: at, name: stem(at), dir: strings.TrimSuffix(at, path.Ext(at)), plan: pl, dialect: program.dialect,
			modified: s.files[at].changed, size: s.files[at].size,
		}
		up := path.Dir(at)
		switch {
		case program.placePage != nil && program.placePage(pg):
		case up != base && path.Base(up) == pg.name && !exists[up+".md"] && !exists[up+".markdown"]:
			pg.dir = up // the note of its folder
		}
		if existing := p.byDir[pg.dir]; existing != nil {
			pg.dir = at // A.md and A.markdown: the first gets the folder
		}
		p.byDir[pg.dir] = pg
	}
	pages := []*page{}
	for _, dir := range slices.Sorted(maps.Keys(p.byDir)) {
		pg := p.byDir[dir]
		up := path.Dir(pg.dir)
		if pg.dir == pg.file {
			up = path.Dir(pg.file)
		}
		p.addToParent(pg, up, base)
	}
	for dir, pg := range p.byDir {
		if pg.dir == dir { // not the second name of a folder
			pages = append(pages, pg)
		}
	}
	slices.SortFunc(pages, func(a, b *page) int { return cmp.Or(cmp.Compare(a.path(), b.path()), cmp.Compare(a.dir, b.dir)) })
	return pages
}

// addToParent puts a page below the page of a folder, which is created if there is no file for it.
func (p *planner) addToParent(pg *page, up, base string) {
	if up == base || up == "." {
		p.plan.top = append(p.plan.top, pg)
		return
	}
	parent := p.byDir[up]
	if parent == nil {
		for dir, other := range p.byDir { // a.md beside A/
			if other.file != "" && other.dir == dir && path.Dir(dir) == path.Dir(up) && foldName(dir) == foldName(up) && !p.s.dirs[dir] {
				parent = other
				break
			}
		}
	}
	if parent == nil {
		parent = p.folder(up)
		p.addToParent(parent, path.Dir(up), base)
	}
	p.byDir[up] = parent
	pg.parent = parent
	parent.children = append(parent.children, pg)
}

// folder returns a page for a folder without a file of its own.
func (p *planner) folder(dir string) *page {
	return &page{name: path.Base(dir), dir: dir, plan: p.plan, modified: p.modified(dir)}
}

// modified returns the oldest modification time of the files in a folder, the zero time if there are none.
func (p *planner) modified(dir string) (first time.Time) {
	for at, f := range p.s.files {
		if strings.HasPrefix(at, dir+"/") && (first.IsZero() || f.changed.Before(first)) {
			first = f.changed
		}
	}
	return first
}

// liftDeepPages moves pages that are nested too deep up to the deepest level allowed.
func liftDeepPages(pages []*page, r *Report) {
	for _, pg := range pages {
		depth := pg.depth()
		if depth <= tree.MaxDepth {
			continue
		}
		r.problem(pg.path(), 0, codeTooDeep, pg.name, fmt.Sprintf("documents lie at most %d levels deep, this one would lie at %d: moved up", tree.MaxDepth, depth))
	}
	var walk func(pg *page, depth int)
	walk = func(pg *page, depth int) {
		for i := 0; i < len(pg.children); i++ {
			child := pg.children[i]
			if depth < tree.MaxDepth {
				child.parent = pg
				walk(child, depth+1)
				continue
			}
			// pg is on the last level: its children become its siblings, after the others.
			child.parent = pg.parent
			pg.parent.children = append(pg.parent.children, child)
		}
		if depth == tree.MaxDepth {
			pg.children = nil
		}
	}
	for _, pg := range pages {
		if pg.parent == nil {
			walk(pg, 1)
		}
	}
}

// sortSiblings sorts siblings by their sort value, if they have one, and by name.
func sortSiblings(list []*page) {
	slices.SortStableFunc(list, func(a, b *page) int {
		if a.front.sorted != b.front.sorted {
			if a.front.sorted {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.front.sort, b.front.sort), naturalCompare(foldName(a.name), foldName(b.name)), cmp.Compare(a.name, b.name), cmp.Compare(a.path(), b.path()))
	})
	for _, pg := range list {
		sortSiblings(pg.children)
	}
}

// naturalCompare compares names so that 2 comes before 10.
func naturalCompare(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			m, n := digitRun(a), digitRun(b)
			x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digitRun returns how many digits a text begins with.
func digitRun(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// foreignProgram is a program that writes folders of notes, with the differences of its notes from plain Markdown with
// Obsidian's extensions. A nil function means no difference. Each program has a file of its own, such as logseq.go.
type foreignProgram struct {
	// dialect is the dialect of its pages, if their links and texts are read differently.
	dialect dialect
	// isAuthor reports whether the program wrote a folder.
	isAuthor func(s *source) bool
	// placePage may change the name of a page, the folder for the pages below it (dir), and its names for links
	// (front.aliases); it reports whether it did. When it is called, file and name are those of the page's file, and
	// dir is the file's path without extension.
	placePage func(pg *page) bool
	// cutHead removes metadata from the top of a page's text, which begins after the front matter, stores it in f, and
	// counts the removed lines.
	cutHead func(f *frontMatter, body string) (rest string, lines int)
	// line converts a line of text that is not code. prefix has its indentation and the marks of quotes and items, rest
	// the text. It calls [writer.markKind] with the kind of change. If it returns false, the line is converted in the
	// normal way.
	line func(w *writer, prefix, rest string) bool
}

// programs returns all programs, in the order in which they are tried.
func programs() []foreignProgram {
	return []foreignProgram{
		{dialect: logseqDialect, isAuthor: (*source).isLogseq, placePage: placeLogseq, cutHead: pageProperties, line: (*writer).logseqLine},
	}
}

// detectProgram returns the program that wrote the folder.
func (s *source) detectProgram() foreignProgram {
	for _, p := range programs() {
		if p.isAuthor(s) {
			return p
		}
	}
	return foreignProgram{dialect: plain}
}
