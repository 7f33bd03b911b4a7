package folder

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// index finds pages by the names that links use.
type index struct {
	byPath map[string]*page   // by path without extension
	folded map[string][]*page // by folded path without extension
	byName map[string][]*page // by folded name of the file
	byWord map[string][]*page // by folded title or alias
	byUUID map[string]target  // Logseq blocks
	former *former            // where links lead that would lead nowhere, nil if nothing was moved
}

// target is a document, or a block in it.
type target struct {
	page *page
	id   string // "" for the document itself
}

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
