package kerneltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// notebookFamily answers the endpoints below /api/notebook.
func notebookFamily(k *Kernel) {
	k.handle("/api/notebook/lsNotebooks", lsNotebooks)
	k.handle("/api/notebook/createNotebook", createNotebook)
	k.handle("/api/notebook/renameNotebook", renameNotebook)
	k.handle("/api/notebook/setNotebookIcon", setNotebookIcon)
	k.handle("/api/notebook/getNotebookConf", getNotebookConf)
	k.handle("/api/notebook/setNotebookConf", setNotebookConf)
	k.handle("/api/notebook/getNotebookInfo", getNotebookInfo)
	k.handle("/api/notebook/changeSortNotebook", changeSortNotebook)
	k.handle("/api/notebook/openNotebook", openNotebook)
	k.handle("/api/notebook/closeNotebook", closeNotebook)
	k.handle("/api/notebook/removeNotebook", removeNotebook)
}

// notebookFailed is the answer about a notebook that is closed or does not exist.
const notebookFailed = "Query notebook failed"

// sortedNotebooks returns every notebook in the order of the list.
func (w *workspace) sortedNotebooks() []*notebook {
	return slices.SortedFunc(maps.Values(w.notebooks), func(a, b *notebook) int {
		return cmp.Or(cmp.Compare(a.conf.Sort, b.conf.Sort), cmp.Compare(a.id, b.id))
	})
}

// listing is a notebook as lsNotebooks and createNotebook show it.
func (k *Kernel) listing(box *notebook) map[string]any {
	count := 0
	if !box.conf.Closed {
		count = len(k.children(box, nil))
	}
	return map[string]any{
		"id": box.id, "name": box.conf.Name, "icon": box.conf.Icon, "sort": box.conf.Sort,
		"sortMode": box.conf.SortMode, "closed": box.conf.Closed, "subFileCount": count,
		"newFlashcardCount": 0, "dueFlashcardCount": 0, "flashcardCount": 0, "encrypted": false, "unlocked": false,
	}
}

func lsNotebooks(k *Kernel, req request) reply {
	if req.optFlag("flashcard", false) {
		return ok(map[string]any{"boxDocEnabled": true, "notebooks": nil})
	}
	list := []any{}
	for _, box := range k.sortedNotebooks() {
		list = append(list, k.listing(box))
	}
	return ok(map[string]any{"boxDocEnabled": true, "notebooks": list})
}

func createNotebook(k *Kernel, req request) reply {
	name := cleanNotebookName(req.needStr("name"))
	if utf8.RuneCountInString(name) > 512 {
		return fail(-1, "Maximum length is limited to 512 characters")
	}
	return ok(map[string]any{"notebook": k.listing(k.createNotebook(name))})
}

// createNotebook adds an open notebook before the others.
func (k *Kernel) createNotebook(name string) *notebook {
	for _, other := range k.notebooks {
		other.conf.Sort++
	}
	box := &notebook{id: k.newID(), conf: newConf(name)}
	k.notebooks[box.id] = box
	page := &block{id: box.id, kind: kindDocument, attrs: map[string]string{
		"custom-hidden": "true", "id": box.id, "title": name, "type": "doc", "updated": box.id[:14],
	}}
	box.page = &document{root: page, box: box, changed: time.Now()}
	page.doc = box.page
	page.insertAt(0, k.emptyParagraph())
	k.adopt(box.page)
	return box
}

func cleanNotebookName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(name, "/", ""))
	if name == "" {
		return "Untitled"
	}
	return name
}

func renameNotebook(k *Kernel, req request) reply {
	id, name := req.needID("notebook"), cleanNotebookName(req.needStr("name"))
	box := k.openNotebook(id)
	if box == nil {
		return notice(notebookFailed, 5000)
	}
	box.conf.Name = name
	box.page.root.attrs["title"] = name
	return done()
}

// unchecked is a notebook that may not exist: setting its icon or configuration makes a closed one.
func (k *Kernel) unchecked(id string) *notebook {
	box := k.notebooks[id]
	if box == nil {
		box = &notebook{id: id, conf: newConf("Untitled")}
		box.conf.Closed = true
		k.notebooks[id] = box
	}
	return box
}

func setNotebookIcon(k *Kernel, req request) reply {
	box := k.unchecked(req.needID("notebook"))
	box.conf.Icon = req.needStr("icon")
	if box.page != nil {
		box.page.root.attrs["icon"] = box.conf.Icon
	}
	return done()
}

func getNotebookConf(k *Kernel, req request) reply {
	id := req.id("notebook")
	box := k.notebooks[id]
	if box == nil {
		return fail(-1, fmt.Sprintf("notebook [%s] not found", id))
	}
	return ok(map[string]any{"box": id, "conf": box.conf, "name": box.conf.Name})
}

func setNotebookConf(k *Kernel, req request) reply {
	id, changes := req.id("notebook"), req.object("conf")
	conf := newConf("Untitled")
	conf.Closed = true
	if box := k.notebooks[id]; box != nil {
		conf = box.conf
	}
	if err := json.Unmarshal([]byte(changes.Raw), &conf); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fail(-1, fmt.Sprintf("json: cannot unmarshal %s into Go struct field BoxConf.%s of type %s", wrong.Value, wrong.Field, wrong.Type))
		}
		return fail(-1, err.Error())
	}
	box := k.unchecked(id)
	box.conf = conf
	if box.page != nil {
		box.page.root.attrs["title"] = conf.Name
	}
	return ok(conf)
}

func getNotebookInfo(k *Kernel, req request) reply {
	id := req.id("notebook")
	box := k.notebooks[id]
	if box == nil {
		return fail(-1, fmt.Sprintf("notebook [%s] not found", id))
	}
	count, size := 0, 0
	for _, d := range k.documents {
		if d.box == box && !d.hidden() {
			count++
		}
		if d.box == box {
			size += len(syFile(d))
		}
	}
	at := time.Now()
	return ok(map[string]any{"boxInfo": map[string]any{
		"id": id, "name": box.conf.Name, "docCount": count, "size": size, "hSize": fmt.Sprintf("%d B", size),
		"mtime": at.Unix(), "ctime": at.Unix(), "hMtime": humanTime(at), "hCtime": humanTime(at),
	}})
}

func changeSortNotebook(k *Kernel, req request) reply {
	for i, id := range req.strs("notebooks") {
		if box := k.notebooks[id]; box != nil {
			box.conf.Sort = i + 1
		}
	}
	return done()
}

func openNotebook(k *Kernel, req request) reply {
	box := k.notebooks[req.needID("notebook")]
	if box == nil {
		return fail(-1, "can not open file, just support open folder only")
	}
	box.conf.Closed = false
	return done()
}

func closeNotebook(k *Kernel, req request) reply {
	if box := k.notebooks[req.id("notebook")]; box != nil {
		box.conf.Closed = true
	}
	return done()
}

func removeNotebook(k *Kernel, req request) reply {
	box := k.notebooks[req.needID("notebook")]
	if box == nil {
		return done()
	}
	for _, d := range maps.Clone(k.documents) {
		if d.box == box {
			k.forget(d.root)
			delete(k.documents, d.id())
		}
	}
	delete(k.notebooks, box.id)
	return done()
}

// humanTime is a time the way listings show it.
func humanTime(t time.Time) string { return t.Format("2006-01-02 15:04:05") + ", now" }
