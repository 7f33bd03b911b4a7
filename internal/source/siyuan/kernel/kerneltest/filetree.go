package kerneltest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// filetreeFamily answers the endpoints below /api/filetree that look at documents.
func filetreeFamily(k *Kernel) {
	k.handle("/api/filetree/listDocsByPath", listDocsByPath)
	k.handle("/api/filetree/listDocTree", listDocTree)
	k.handle("/api/filetree/getHPathByID", func(k *Kernel, req request) reply {
		return k.aboutDocument(req, func(d *document) any { return d.hpath() })
	})
	k.handle("/api/filetree/getFullHPathByID", func(k *Kernel, req request) reply {
		return k.aboutDocument(req, func(d *document) any { return d.box.conf.Name + d.hpath() })
	})
	k.handle("/api/filetree/getPathByID", func(k *Kernel, req request) reply {
		return k.aboutDocument(req, func(d *document) any {
			return map[string]any{"notebook": d.box.id, "path": d.path()}
		})
	})
	k.handle("/api/filetree/getHPathByPath", getHPathByPath)
	k.handle("/api/filetree/getHPathsByPaths", getHPathsByPaths)
	k.handle("/api/filetree/getIDsByHPath", getIDsByHPath)
	k.handle("/api/filetree/searchDocs", searchDocs)
	k.handle("/api/filetree/getDoc", getDoc)
}

// aboutDocument answers about the document a block lies in.
func (k *Kernel) aboutDocument(req request, tell func(*document) any) reply {
	b := k.openBlock(req.id("id"))
	if b == nil {
		return fail(-1, "tree not found")
	}
	return ok(tell(b.doc))
}

func listDocsByPath(k *Kernel, req request) reply {
	id, path := req.str("notebook"), req.str("path")
	box := k.openNotebook(id)
	if box == nil {
		return fail(-1, notebookFailed)
	}
	files := []any{}
	parent := k.documentAt(id, strings.TrimSuffix(path, ".sy")+".sy")
	if path == "/" || parent != nil {
		list := k.children(box, parent)
		sortDocuments(list, req.optNum("sort", box.conf.SortMode))
		if most := req.optNum("maxListCount", 0); most > 0 && len(list) > most {
			list = list[:most]
		}
		for _, d := range list {
			files = append(files, k.listedDocument(d))
		}
	}
	return ok(map[string]any{"box": id, "files": files, "path": path})
}

// sortDocuments puts documents in one of the orders of the file tree; 6 and 15 are the manual one they come in.
func sortDocuments(list []*document, mode int) {
	byTitle := func(a, b *document) int {
		return strings.Compare(strings.ToLower(a.title()), strings.ToLower(b.title()))
	}
	byChange := func(a, b *document) int { return cmp.Compare(a.changed.UnixNano(), b.changed.UnixNano()) }
	byID := func(a, b *document) int { return strings.Compare(a.id(), b.id()) }
	reverse := func(order func(a, b *document) int) func(a, b *document) int {
		return func(a, b *document) int { return order(b, a) }
	}
	orders := map[int]func(a, b *document) int{
		0: byTitle, 1: reverse(byTitle), 2: byChange, 3: reverse(byChange), 4: byTitle, 5: reverse(byTitle),
		9: byID, 10: reverse(byID),
	}
	if order := orders[mode]; order != nil {
		slices.SortStableFunc(list, order)
	}
}

// listedDocument is a document as listDocsByPath shows it.
func (k *Kernel) listedDocument(d *document) map[string]any {
	attrs := d.root.attrs
	size := len(syFile(d))
	made := idTime(d.id())
	row := map[string]any{
		"path": d.path(), "name": d.title(), "icon": attrs["icon"], "name1": attrs["name"], "alias": attrs["alias"],
		"memo": attrs["memo"], "bookmark": attrs["bookmark"], "id": d.id(), "count": 0, "size": size,
		"hSize": fmt.Sprintf("%d B", size), "mtime": d.changed.Unix(), "ctime": made.Unix(),
		"hMtime": humanTime(d.changed), "hCtime": humanTime(made), "sort": d.sort,
		"subFileCount":      len(k.children(d.box, d)),
		"newFlashcardCount": 0, "dueFlashcardCount": 0, "flashcardCount": 0,
	}
	if attrs["title-empty"] == "true" {
		row["titleEmpty"] = true
	}
	return row
}

func listDocTree(k *Kernel, req request) reply {
	id, path := req.str("notebook"), req.str("path")
	if strings.Contains(path, "..") {
		return fail(-1, "path must not contain '..'")
	}
	clean := strings.Trim(path, "/")
	if clean == "" || clean == "." {
		return fail(-1, "path escapes notebook directory")
	}
	d := k.documentAt(id, strings.TrimSuffix(path, ".sy")+".sy")
	if d == nil {
		return fail(-1, fmt.Sprintf("open %s/data/%s%s: no such file or directory", workspaceDir, id, path))
	}
	return ok(map[string]any{"tree": k.treeBelow(d)})
}

func (k *Kernel) treeBelow(d *document) []any {
	list := []any{}
	for _, child := range k.children(d.box, d) {
		node := map[string]any{"id": child.id()}
		if below := k.treeBelow(child); len(below) > 0 {
			node["children"] = below
		}
		list = append(list, node)
	}
	return list
}

func getHPathByPath(k *Kernel, req request) reply {
	id, path := req.str("notebook"), req.str("path")
	if path == "/" {
		return ok("/")
	}
	d := k.documentAt(id, path)
	if d == nil {
		return fail(-1, "block not found")
	}
	return ok(d.hpath())
}

func getHPathsByPaths(k *Kernel, req request) reply {
	found := []string{}
	for _, path := range req.strs("paths") {
		if d := k.documents[documentID(path)]; d != nil {
			found = append(found, d.box.conf.Name+d.hpath())
		}
	}
	return ok(found)
}

// documentID is the id of the document a path leads to.
func documentID(path string) string {
	return strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".sy")
}

func getIDsByHPath(k *Kernel, req request) reply {
	id, path := req.str("notebook"), req.str("path")
	found := []string{}
	for _, d := range k.documentsByHPath(id, path) {
		found = append(found, d.id())
	}
	return ok(found)
}

func searchDocs(k *Kernel, req request) reply {
	query := strings.ToLower(req.str("k"))
	exclude := req.optStrs("excludeIDs")
	found := []any{}
	if req.optFlag("flashcard", false) {
		return ok(found)
	}
	for _, box := range k.sortedNotebooks() {
		if box.conf.Closed || box.page == nil {
			continue
		}
		if query == "" {
			found = append(found, map[string]any{"box": box.id, "boxIcon": box.conf.Icon, "hPath": box.conf.Name + "/", "path": "/"})
			continue
		}
		var list []*document
		for _, d := range k.documents {
			if d.box == box && !d.hidden() && strings.Contains(strings.ToLower(d.title()), query) && !slices.Contains(exclude, d.id()) {
				list = append(list, d)
			}
		}
		slices.SortFunc(list, func(a, b *document) int { return strings.Compare(a.hpath(), b.hpath()) })
		for _, d := range list {
			found = append(found, map[string]any{
				"box": box.id, "boxIcon": box.conf.Icon, "hPath": box.conf.Name + d.hpath(), "path": d.path(),
			})
		}
	}
	return ok(found)
}

func getDoc(k *Kernel, req request) reply {
	b := k.openBlock(req.str("id"))
	if b == nil {
		return fail(1, "tree not found")
	}
	root := b.doc.root
	return ok(map[string]any{
		"blockCount": len(root.children), "box": b.doc.box.id, "content": domsOf(root.children), "eof": false,
		"id": b.id, "isBacklinkExpand": false, "isSyncing": false, "keywords": nil, "mode": req.optNum("mode", 0),
		"parent2ID": root.id, "parentID": root.id, "path": b.doc.path(), "reqId": nil, "rootID": root.id,
		"scroll": false, "type": nodeTypes[b.kind],
	})
}

// touched marks a document as changed now.
func (d *document) touched() {
	d.root.attrs["updated"] = stamp(time.Now())
	d.changed = time.Now()
}
