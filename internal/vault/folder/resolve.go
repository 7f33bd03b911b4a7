package folder

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"collie/internal/vault/workspace"
)

// index finds pages by the names that links use.
type index struct {
	byPath map[string]*page   // by path without extension
	folded map[string][]*page // by folded path without extension
	byName map[string][]*page // by folded name of the file
	byWord map[string][]*page // by folded title or alias
	byUUID map[string]target  // Logseq blocks
	former *former            // the folder before pages were moved, for links that lead nowhere now; nil if none was moved
}

// target is a document, or a block in it.
type target struct {
	page *page
	id   string // "" for the document itself
}

// newIndex builds the index of the pages that could be read.
func newIndex(pages []*page) *index {
	x := &index{byPath: map[string]*page{}, folded: map[string][]*page{}, byName: map[string][]*page{}, byWord: map[string][]*page{}, byUUID: map[string]target{}}
	for _, pg := range pages {
		if pg.broken {
			continue
		}
		paths := []string{pg.dir}
		if pg.file != "" {
			paths = append(paths, strings.TrimSuffix(pg.file, path.Ext(pg.file)))
		}
		for _, at := range paths {
			if at == "" {
				continue
			}
			if x.byPath[at] == nil {
				x.byPath[at] = pg
			}
			add(x.folded, foldName(at), pg)
		}
		add(x.byName, foldName(pg.name), pg)
		if pg.file != "" {
			add(x.byName, foldName(stem(pg.file)), pg)
		}
		for _, word := range append([]string{pg.title, pg.front.title}, pg.front.aliases...) {
			add(x.byWord, foldName(word), pg)
		}
		for name, id := range pg.anchors {
			if len(name) == 36 { // a UUID
				x.byUUID[name] = target{pg, id}
			}
		}
	}
	for _, list := range x.byName {
		slices.SortStableFunc(list, func(a, b *page) int { return nearestFirst(a.path(), b.path()) })
	}
	return x
}

// add adds a page to the list of a key, once.
func add(m map[string][]*page, key string, pg *page) {
	if key != "" && !slices.Contains(m[key], pg) {
		m[key] = append(m[key], pg)
	}
}

// wiki returns the page that [[name]] on the page from refers to, or nil. It tries, in this order: the path relative to from,
// the path from the top of the folder, the file name (in from's own folder first), the title or an alias, and the end of a
// path. An empty name refers to from itself. A name that leads nowhere may have led to a page that was moved.
func (x *index) wiki(from *page, name string) *page {
	pg := x.find(from, name)
	if f := x.former; pg == nil && f != nil && f.was[from.id] != nil {
		pg = f.now[f.index.find(f.was[from.id], name)]
	}
	return pg
}

// find is wiki without the places of pages before they were moved.
func (x *index) find(from *page, name string) *page {
	name = strings.TrimSpace(name)
	if name == "" {
		return from
	}
	if isPage(name) {
		if pg := x.pageAt(path.Join(path.Dir(from.file), name)); pg != nil {
			return pg
		}
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if strings.Contains(name, "/") {
		if pg := x.pageAt(path.Join(path.Dir(from.file), name)); pg != nil {
			return pg
		}
		if pg := x.pageAt(path.Clean("/" + name)[1:]); pg != nil {
			return pg
		}
	}
	if list := x.byName[foldName(name)]; len(list) > 0 {
		for _, exact := range []bool{true, false} {
			for _, pg := range list {
				if path.Dir(pg.path()) == path.Dir(from.file) && (!exact || pg.name == name) {
					return pg
				}
			}
		}
		for _, pg := range list {
			if pg.name == name {
				return pg
			}
		}
		return list[0]
	}
	if list := x.byWord[foldName(name)]; len(list) > 0 {
		return list[0]
	}
	if strings.Contains(name, "/") {
		return x.findBySuffix(name)
	}
	return nil
}

// findBySuffix finds a page by the end of its path.
func (x *index) findBySuffix(name string) (match *page) {
	name = "/" + foldName(strings.Trim(path.Clean("/"+name), "/"))
	for at, list := range x.folded {
		if strings.HasSuffix(at, name) && (match == nil || nearestFirst(list[0].path(), match.path()) < 0) {
			match = list[0]
		}
	}
	return match
}

// pageAt returns the page at a path, with or without extension; nil if there is none.
func (x *index) pageAt(at string) *page {
	for _, p := range []string{strings.TrimSuffix(at, path.Ext(at)), at} {
		if p != at && !isPage(at) { // only the extension of a page may be left out
			continue
		}
		if pg := x.byPath[p]; pg != nil {
			return pg
		}
		if list := x.folded[foldName(p)]; len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// fragmentTarget resolves the part of a link after # to the id of a heading or block. For a path of headings, the last
// one counts.
func (p *page) fragmentTarget(fragment string) (id string, ok bool) {
	if rest, found := strings.CutPrefix(strings.TrimSpace(fragment), "^"); found {
		id = p.anchors[foldName(rest)]
		return id, id != ""
	}
	if id = p.headings[headingKey(fragment)]; id != "" {
		return id, true
	}
	if at := strings.LastIndexByte(fragment, '#'); at >= 0 {
		fragment = fragment[at+1:]
	}
	id = p.headings[headingKey(fragment)]
	return id, id != ""
}

// relativePath returns the path in the folder for a relative address, "" if it leads out of the folder.
func relativePath(from, address string) string {
	plain, err := url.PathUnescape(address)
	if err != nil {
		plain = address
	}
	plain = strings.ReplaceAll(plain, `\`, "/")
	if strings.HasPrefix(plain, "/") {
		plain = strings.TrimLeft(plain, "/")
	} else {
		plain = path.Join(path.Dir(from), plain)
	}
	plain = path.Clean(plain)
	if plain == "." || plain == ".." || strings.HasPrefix(plain, "../") || strings.HasPrefix(plain, "/") {
		return ""
	}
	return plain
}

// file finds an attachment and returns its path, "" if there is none. It tries the address relative to the page, then relative
// to the top of the folder. With byName it also accepts a file of that name anywhere, or one whose path ends in the address if
// that has a slash; the page's own folder comes first.
func (s *source) file(from *page, address string, byName bool) string {
	for _, try := range []string{address, strings.SplitN(address, "?", 2)[0]} {
		if at := relativePath(from.file, try); at != "" && s.has(at) {
			return at
		}
		if at := relativePath("", try); at != "" && s.has(at) {
			return at
		}
	}
	if !byName {
		return ""
	}
	plain, err := url.PathUnescape(address)
	if err != nil {
		plain = address
	}
	best := ""
	for _, at := range s.base[foldName(path.Base(plain))] {
		if strings.Contains(plain, "/") && !strings.HasSuffix(foldName(at), foldName("/"+strings.Trim(path.Clean("/"+plain), "/"))) {
			continue
		}
		if path.Dir(at) == path.Dir(from.file) {
			return at
		}
		if best == "" {
			best = at
		}
	}
	return best
}

func (s *source) has(at string) bool { _, ok := s.files[at]; return ok }

// isExternal reports whether an address is not a path in the folder: it is empty, a fragment of the same page, or has a host or
// a scheme. A letter before a colon is a drive, not a scheme.
func isExternal(address string) bool {
	if address == "" || strings.HasPrefix(address, "#") || strings.HasPrefix(address, "//") {
		return true
	}
	scheme, _, found := strings.Cut(address, ":")
	if !found || len(scheme) < 2 {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !isDigit(scheme[i]) && !strings.ContainsRune("+-.", rune(scheme[i]))) {
			return false
		}
	}
	return true
}

// former is a folder as it was before pages got other names and places. Links that lead nowhere are looked up in it: whoever
// moves a file seldom changes the links to it, or those in it.
type former struct {
	index *index
	was   map[string]*page // former pages by id
	now   map[*page]*page  // present pages by former page
	names map[string]*page // pages that have only the former names of headings and blocks, by id
}

// formerOf returns the folder as it was before pages were moved, in this sync or, according to records, in an interrupted
// one. It returns nil if no page was moved.
func formerOf(pages []*page, records []workspace.Imported) *former {
	byTarget := map[string][]workspace.Imported{}
	for _, record := range records {
		byTarget[record.Target] = append(byTarget[record.Target], record)
	}
	f := &former{was: map[string]*page{}, now: map[*page]*page{}, names: map[string]*page{}}
	changed := false
	var list []*page
	add := func(pg *page, at string) {
		shadow := pg
		if at != pg.rowPath() {
			shadow = pg.at(at)
			changed = true
		}
		if f.was[pg.id] == nil {
			f.was[pg.id] = shadow
		}
		f.now[shadow] = pg
		list = append(list, shadow)
	}
	for _, pg := range pages {
		if pg.from != "" {
			add(pg, pg.from)
		}
		for _, record := range byTarget[pg.id] {
			if at := record.Path[len(formerPath("")):]; at != pg.from {
				add(pg, at)
			}
			names := f.names[pg.id]
			if names == nil {
				names = &page{headings: map[string]string{}, anchors: map[string]string{}}
				f.names[pg.id] = names
			}
			for name, id := range record.Names {
				if key, found := strings.CutPrefix(name, "h:"); found {
					names.headings[key] = id
				} else {
					names.anchors[strings.TrimPrefix(name, "a:")] = id
				}
			}
			changed = true
		}
		if f.was[pg.id] == nil {
			add(pg, pg.rowPath())
		}
	}
	if !changed {
		return nil
	}
	f.index = newIndex(list)
	return f
}

// at returns a page as if it were at another path, or, if that ends in a slash, a folder without a file.
func (p *page) at(rowPath string) *page {
	moved := *p
	if dir, isFolder := strings.CutSuffix(rowPath, "/"); isFolder {
		moved.file, moved.dir = "", dir
	} else {
		moved.file, moved.dir = rowPath, strings.TrimSuffix(rowPath, path.Ext(rowPath))
		if p.file != "" && p.dir == path.Dir(p.file) {
			moved.dir = path.Dir(rowPath)
		}
	}
	moved.name = stem(strings.TrimSuffix(rowPath, "/"))
	if p.row != nil && p.row.Path == rowPath {
		moved.title = p.row.Title
	}
	return &moved
}

// hasMoved reports whether a page or names in it have changed, so that links to it, and links in it, may have to be looked up
// in the former folder.
func (f *former) hasMoved(pg *page) bool {
	return f != nil && (f.was[pg.id] != pg || f.names[pg.id] != nil)
}

// pageAt returns the page at an address relative to this one, nil if there is none.
func (r *reader) pageAt(address string) *page {
	if at := relativePath(r.pg.file, address); at != "" {
		if pg := r.im.index.pageAt(at); pg != nil && !(r.im.s.has(at) && !isPage(at)) {
			return pg
		}
	}
	f := r.im.index.former
	if f == nil || f.was[r.pg.id] == nil {
		return nil
	}
	if at := relativePath(f.was[r.pg.id].file, address); at != "" && !r.im.s.has(at) {
		return f.now[f.index.pageAt(at)]
	}
	return nil
}

// file returns the path of the attachment at an address, as [source.file] does, "" if there is none.
func (r *reader) file(address string, byName bool) string {
	at := r.im.s.file(r.pg, address, byName)
	if f := r.im.index.former; at == "" && f != nil && f.was[r.pg.id] != nil {
		at = r.im.s.file(f.was[r.pg.id], address, byName)
	}
	return at
}

// fragmentTarget is like [page.fragmentTarget] for former names of headings and blocks that are still in the page.
func (f *former) fragmentTarget(pg *page, fragment string) (id string, ok bool) {
	if f == nil || f.names[pg.id] == nil {
		return "", false
	}
	id, ok = f.names[pg.id].fragmentTarget(fragment)
	_, there := pg.texts[id]
	return id, ok && there
}
