package folder

import (
	"path"
	"strings"

	"collie/internal/vault/workspace"
)

// former is a folder as it was before pages got other names and places. Links that lead nowhere are looked up in it: whoever
// moves a file seldom changes the links to it, or those in it.
type former struct {
	index *index
	was   map[string]*page // how a page was, by its id
	now   map[*page]*page  // what a page is now, by how it was
	names map[string]*page // pages with former names of headings and blocks alone, by id
}

// formerOf returns how pages were before they were moved, nil if none was: in this sync, or in one that did not end, of which the vault has records.
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

// hasMoved reports whether links to a page, or in it, may have to be looked up as they were.
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

// fragmentTarget is [page.fragmentTarget] for names that headings and blocks of the page had before, if they are still in it.
func (f *former) fragmentTarget(pg *page, fragment string) (id string, ok bool) {
	if f == nil || f.names[pg.id] == nil {
		return "", false
	}
	id, ok = f.names[pg.id].fragmentTarget(fragment)
	_, there := pg.texts[id]
	return id, ok && there
}

// formerPath is the path under which is recorded that a page was at a path before.
func formerPath(at string) string { return "//" + at }

// recordFormer records how a page was called, if it is called otherwise now: a sync that is killed before it has written the files that
// link to it needs that to know where their links lead.
func (s *syncer) recordFormer(tx *workspace.Tx, origin int64, earlier *workspace.Imported, now workspace.Imported) {
	if earlier == nil {
		return
	}
	record := workspace.Imported{Path: formerPath(earlier.Path), Kind: formerKind, Target: earlier.Target, Names: map[string]string{}}
	for name, id := range earlier.Names {
		if now.Names[name] != id {
			record.Names[name] = id
		}
	}
	if earlier.Path != now.Path || len(record.Names) > 0 {
		tx.PutImported(origin, record)
		s.moved = true
	}
}
