package folder

import (
	"maps"
	"path"
	"strings"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// layOut plans the path of each document's file, and creates the importer that reads this planned folder.
func (x *exportPhase) layOut() {
	for _, pg := range x.im.pages { // the names of a page's folder and its file may differ in case
		if up := path.Dir(pg.dir); pg.parent != nil && up != pg.parent.dir && foldName(up) == foldName(pg.parent.dir) {
			pg.parent.dir = up
		}
	}
	existing := map[string]*page{} // by document
	for _, pg := range x.im.pages {
		x.read[pg.id] = pg
		if x.byID[pg.id] != nil && (pg.file == "" || x.im.s.has(pg.file)) {
			existing[pg.id] = pg
		}
	}
	planned := x.planFolder()
	plan := &notebookPlan{name: x.im.plans[0].name, id: x.box.ID}
	for _, d := range x.docs { // parents first
		pg := &page{id: d.id, title: d.title, plan: plan, dialect: plain}
		old, row := existing[d.id], x.rows[d.id]
		if old != nil {
			*pg = *old
			pg.plan, pg.children, pg.title = plan, nil, d.title
			x.current[d.id] = old.file
		}
		pg.parent = x.pages[d.parent]
		x.placeDocument(d, pg, old, row)
		if pg.parent != nil {
			pg.parent.children = append(pg.parent.children, pg)
		}
		if pg.file != "" && pg.file != x.current[d.id] && x.current[d.id] != "" {
			planned.files[pg.file] = planned.files[x.current[d.id]]
			delete(planned.files, x.current[d.id])
			planned.moved[pg.file] = x.current[d.id]
			x.todo[d.id] = true
		}
		if old != nil && pg.file == "" && pg.dir != old.dir {
			x.todo[d.id] = true
		}
		if pg.headings == nil {
			pg.headings, pg.anchors, pg.texts = map[string]string{}, map[string]string{}, map[string]string{}
		}
		x.pages[d.id] = pg
		x.ex.pages = append(x.ex.pages, pg)
	}
	for address, at := range x.assets {
		x.ex.assets[at] = address
	}
	planned.reindex()
	x.ex.index = newIndex(x.ex.pages)
}

// planFolder creates the importer that reads the planned folder, which begins as the present one, and marks all names in
// it as used.
func (x *exportPhase) planFolder() *source {
	x.ex = newImporter(x.w, ImportOptions{DryRun: true})
	x.ex.renamed = x.im.renamed
	x.ex.memory = x.im.memory
	planned := *x.im.s
	planned.files, planned.texts, planned.moved = maps.Clone(x.im.s.files), map[string][]byte{}, map[string]string{}
	x.ex.s = &planned
	x.ex.program = x.im.program
	for at := range x.im.s.files {
		x.markNameUsed(path.Dir(at), path.Base(at))
	}
	for at := range x.im.s.dirs {
		x.markNameUsed(path.Dir(at), path.Base(at))
	}
	for at := range x.im.s.unread {
		x.markNameUsed(path.Dir(at), path.Base(at))
	}
	return &planned
}

// placeDocument assigns to the page of a document its file and its folder. old is its page as it was read and row what the
// last sync recorded of it; both may be nil.
func (x *exportPhase) placeDocument(d *syncDoc, pg, old *page, row *workspace.Imported) {
	parentDir, oldParentDir := ".", "."
	if pg.parent != nil {
		parentDir = pg.parent.dir
	}
	if old != nil && old.parent != nil {
		oldParentDir = old.parent.dir
	}
	switch {
	case old == nil && row != nil && x.heldDocs[d.id] && x.im.s.isUnread(strings.TrimSuffix(row.Path, "/")):
		pg.dir = strings.TrimSuffix(row.Path, "/")
		if pg.dir == row.Path {
			pg.file, pg.dir = row.Path, strings.TrimSuffix(row.Path, path.Ext(row.Path))
		}
	case old == nil || row == nil:
		if old == nil {
			x.assignNames(pg, parentDir, d.title, "")
		}
	case d.parent != row.Parent || d.title != row.Title && pg.front.title == "":
		title := d.title
		if d.title == row.Title || pg.front.title != "" {
			title = pg.name
			if old.file != "" {
				title = stem(old.file)
			}
		}
		if d.parent == row.Parent {
			parentDir = path.Dir(old.dir)
			if pg.parent != nil && pg.parent.dir != oldParentDir {
				parentDir = pg.parent.dir
			}
		}
		x.assignNames(pg, parentDir, title, old.file)
	case parentDir != oldParentDir:
		if inside, found := strings.CutPrefix(old.file, oldParentDir+"/"); found && old.file != "" {
			pg.file = path.Join(parentDir, inside)
		}
		if inside, found := strings.CutPrefix(old.dir, oldParentDir+"/"); found {
			pg.dir = path.Join(parentDir, inside)
		}
	}
}

// markNameUsed marks a name in a folder as used.
func (x *exportPhase) markNameUsed(dir, name string) {
	if x.names[dir] == nil {
		x.names[dir] = folderNames{}
	}
	x.names[dir][foldName(name)] = true
}

// assignNames assigns to a page a free file name for its title, and a folder for its children. old is its current file, "" if
// it has none.
func (x *exportPhase) assignNames(pg *page, dir, title, old string) {
	if x.names[dir] == nil {
		x.names[dir] = folderNames{}
	}
	names := x.names[dir]
	if old == "" && pg.file == "" && pg.dir != "" { // a folder without a file
		delete(names, foldName(path.Base(pg.dir)))
		name := names.document(title)
		names[foldName(name)] = true
		pg.dir = path.Join(dir, name)
		pg.name = name
		return
	}
	ext := ".md"
	if old != "" {
		ext = path.Ext(old)
		if path.Dir(old) == dir {
			delete(names, foldName(path.Base(old)))
		}
		if path.Dir(pg.dir) == dir {
			delete(names, foldName(path.Base(pg.dir)))
		}
	}
	isFolderNote := old != "" && pg.dir == path.Dir(old)
	name := names.freeName(safeName(title), "", ext)
	pg.name = name
	if isFolderNote {
		pg.dir = path.Join(dir, name)
		pg.file = path.Join(pg.dir, name+ext)
		return
	}
	pg.file, pg.dir = path.Join(dir, name+ext), path.Join(dir, name)
}

// chooseDocuments determines which documents may have to be written, and gives names to the blocks that links refer to.
func (x *exportPhase) chooseDocuments(tx *workspace.Tx) {
	for _, d := range x.docs {
		row := x.rows[d.id]
		switch {
		case x.heldDocs[d.id]:
		case row == nil, x.hasChanged(tx, d, row), x.pages[d.id].file != "" && x.current[d.id] == "":
			x.todo[d.id] = true
		default:
			if state := x.synced[row.Path]; state.Rev != d.rev {
				x.recordState(row.Path, workspace.Synced{Rev: d.rev, Content: state.Content})
			}
		}
	}
	// Links refer to a block by its heading or a ^name, which must be in the file.
	named := map[string]bool{}
	for _, pg := range x.pages {
		for key, id := range pg.headings {
			named[id] = true
			_ = key
			x.headings[id] = pg.texts[id]
		}
		for name, id := range pg.anchors {
			named[id] = true
			x.anchors[id] = name
		}
		for _, id := range pg.definedIDs {
			named[id] = true
			x.keepIDs[id] = true
		}
	}
	for id, doc := range x.owner {
		if pg := x.pages[doc]; pg != nil && id != doc && !named[id] && !x.heldDocs[doc] {
			x.todo[doc] = true
		}
	}
	for id, pg := range x.read {
		if x.im.index.former.hasMoved(pg) && x.pages[id] != nil {
			x.todo[id] = true // links to it and in it still have the former names
			x.addReferring(tx, id)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, id := range sortedKeys(x.todo) {
			pg := x.pages[id]
			before := x.namesOf(pg)
			x.nameBlocks(tx, pg)
			if before != x.namesOf(pg) || pg.file != x.current[id] {
				changed = x.addReferring(tx, id) || changed
			}
		}
	}
	x.ex.index = newIndex(x.ex.pages)
}

// namesOf returns all names by which links can refer to a page and its blocks.
func (x *exportPhase) namesOf(pg *page) string {
	return mustJSON([]any{pg.headings, pg.anchors})
}

// addReferring adds the documents that refer to a document or its blocks, because their links may change.
func (x *exportPhase) addReferring(tx *workspace.Tx, id string) (added bool) {
	tx.Rows(func(row workspace.Row) bool {
		from := row.Text(0)
		if x.byID[from] != nil && !x.todo[from] && !x.heldDocs[from] && x.current[from] != "" {
			x.todo[from] = true
			added = true
		}
		return true
	}, `SELECT DISTINCT document.id FROM node AS target JOIN document AS owner ON owner.n = target.doc
		JOIN ref ON ref.def = target.id JOIN node ON node.n = ref.node JOIN document ON document.n = node.doc
		WHERE owner.id = ?`, id)
	return added
}

// nameBlocks records the names that a page's blocks will have in its file.
func (x *exportPhase) nameBlocks(tx *workspace.Tx, pg *page) {
	root := tx.Peek(pg.id)
	if root == nil {
		return
	}
	inDoc := map[string]*tree.Block{}
	root.Walk(func(b *tree.Block) { inDoc[b.ID] = b })
	headings, texts := headingNames(root)
	anchors := map[string]string{}
	for name, id := range pg.anchors {
		if inDoc[id] != nil {
			anchors[name] = id
			x.anchors[id] = name
		}
	}
	for id, doc := range x.owner {
		b := inDoc[id]
		if doc != pg.id || b == nil || b == root || texts[id] != "" {
			continue
		}
		if x.anchors[id] != "" || x.keepIDs[id] {
			continue
		}
		if !canHaveName(b) {
			x.keepIDs[id] = true
			continue
		}
		name := anchorName(id, func(name string) bool { return anchors[name] != "" })
		anchors[foldName(name)], x.anchors[id] = id, name
	}
	pg.headings, pg.anchors = headings, anchors
	pg.texts = map[string]string{}
	for id, text := range texts {
		pg.texts[id] = text
		x.headings[id] = text
	}
	for _, id := range anchors {
		pg.texts[id] = shownText(strings.SplitN(firstText(inDoc[id]), "\n", 2)[0])
	}
}

// canHaveName reports whether a block can have a ^name.
func canHaveName(b *tree.Block) bool {
	switch b.Kind {
	case tree.Heading, tree.Item:
		return true
	case tree.Paragraph:
		return b.Text != "" && (b.Parent.Kind == tree.Doc || b.Parent.Kind == tree.Quote)
	}
	return b.Parent.Kind == tree.Doc && b.Kind != tree.Super
}

// firstText returns the text of the first leaf of a block.
func firstText(b *tree.Block) string {
	for len(b.Children) > 0 {
		b = b.Children[0]
	}
	return b.Text
}
