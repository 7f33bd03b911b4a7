package file

import (
	"encoding/json"
	"path"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// lookupNote returns the entry for a path that belongs to a notebook: the notebook's folder, its configuration or order,
// a document, or the folder of a document's children; nil if there is none.
func lookupNote(tx *workspace.Tx, p string) *entry {
	id, rest, ok := splitNote(p)
	if !ok {
		return nil
	}
	box := tx.Notebook(id)
	if box == nil {
		return nil
	}
	switch rest {
	case "", "/.siyuan":
		return &entry{dir: true, note: true, changed: boxTime(tx, box)}
	case "/.siyuan/conf.json":
		return &entry{note: true, changed: boxTime(tx, box), data: func() []byte { return confFile(box) }}
	case "/.siyuan/sort.json":
		return &entry{note: true, changed: boxTime(tx, box), data: func() []byte { return sortFile(tx, box) }}
	}
	at, isFile := rest, strings.HasSuffix(rest, ".sy")
	if !isFile {
		at += ".sy"
	}
	d := statDocument(tx, box, at)
	switch {
	case d == nil || !isFile && !d.parent:
		return nil
	case !isFile:
		return &entry{dir: true, note: true, changed: d.changed}
	}
	return &entry{note: true, changed: d.changed, data: func() []byte { return documentFile(tx, box, at) }}
}

// noteEntries returns the entries of a folder that belong to notebooks.
func noteEntries(tx *workspace.Tx, dir string) map[string]*entry {
	found := map[string]*entry{}
	if dir == "/data" {
		for _, box := range tx.Notebooks() {
			found[box.ID] = lookupNote(tx, "/data/"+box.ID)
		}
		return found
	}
	id, rest, ok := splitNote(dir)
	if !ok || tx.Notebook(id) == nil {
		return found
	}
	box := tx.Notebook(id)
	switch rest {
	case "":
		found[".siyuan"] = lookupNote(tx, dir+"/.siyuan")
		addDocuments(tx, found, box, 0)
	case "/.siyuan":
		for _, name := range []string{"conf.json", "sort.json"} {
			found[name] = lookupNote(tx, dir+"/"+name)
		}
	default:
		if up := statDocument(tx, box, rest+".sy"); up != nil {
			addDocuments(tx, found, box, up.n)
		}
	}
	return found
}

// addDocuments adds the documents right below one, or at the top of a notebook when parent is 0, and the folders of
// those that have children.
func addDocuments(tx *workspace.Tx, found map[string]*entry, box *tree.Notebook, parent int64) {
	tx.Rows(func(row workspace.Row) bool {
		at, changed := row.Text(0), time.UnixMilli(row.Int(1))
		found[path.Base(at)] = &entry{note: true, changed: changed, data: func() []byte { return documentFile(tx, box, at) }}
		if row.Int(2) != 0 {
			found[strings.TrimSuffix(path.Base(at), ".sy")] = &entry{dir: true, note: true, changed: changed}
		}
		return true
	}, `SELECT d.path, d.changed, EXISTS (SELECT 1 FROM document AS c WHERE c.box = d.box AND c.parent = d.n)
		FROM document AS d WHERE d.box = ? AND d.parent = ?`, box.ID, parent)
}

// place is where a document lies.
type place struct {
	n       int64 // as the storage counts documents
	changed time.Time
	parent  bool // it has documents below it
}

// statDocument finds the document at a path, /<id>/<id>.sy, without loading it; nil when there is none.
func statDocument(tx *workspace.Tx, box *tree.Notebook, at string) (found *place) {
	tx.Rows(func(row workspace.Row) bool {
		found = &place{row.Int(0), time.UnixMilli(row.Int(1)), row.Int(2) != 0}
		return false
	}, `SELECT d.n, d.changed, EXISTS (SELECT 1 FROM document AS c WHERE c.box = d.box AND c.parent = d.n)
		FROM document AS d WHERE d.id = ? AND d.box = ? AND d.path = ?`, strings.TrimSuffix(path.Base(at), ".sy"), box.ID, at)
	return found
}

// documentAt returns the document at a path, loaded, also in a closed notebook, whose files can be read like any
// others.
func documentAt(tx *workspace.Tx, box *tree.Notebook, at string) *tree.Document {
	if !box.Conf.Closed {
		return tx.DocumentAt(box.ID, at)
	}
	if at == "/"+box.ID+".sy" {
		return tx.Page(box)
	}
	var d *tree.Document
	for id := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(at, "/"), ".sy"), "/") {
		if d = child(tx, box, d, id); d == nil {
			return nil
		}
	}
	tx.Load(d)
	return d
}

func child(tx *workspace.Tx, box *tree.Notebook, parent *tree.Document, id string) *tree.Document {
	for _, d := range tx.Children(box, parent) {
		if d.ID() == id {
			return d
		}
	}
	return nil
}

func documentFile(tx *workspace.Tx, box *tree.Notebook, at string) []byte {
	d := documentAt(tx, box, at)
	if d == nil {
		return nil
	}
	return markup.SY(d)
}

func confFile(box *tree.Notebook) []byte {
	data, err := json.MarshalIndent(box.Conf, "", "  ")
	if err != nil {
		panic("vault: " + err.Error()) // texts, numbers and flags only
	}
	return data
}

// sortFile returns the manual order of a notebook's documents, by id.
func sortFile(tx *workspace.Tx, box *tree.Notebook) []byte {
	sorted := map[string]int64{}
	tx.Rows(func(row workspace.Row) bool {
		sorted[row.Text(0)] = row.Int(1)
		return true
	}, "SELECT id, sort FROM document WHERE box = ?", box.ID)
	return api.MustJSON(sorted)
}

// boxTime returns when the page of a notebook was changed, or else when the notebook was made.
func boxTime(tx *workspace.Tx, box *tree.Notebook) time.Time {
	changed := tree.IDTime(box.ID)
	tx.Rows(func(row workspace.Row) bool {
		changed = time.UnixMilli(row.Int(0))
		return false
	}, "SELECT changed FROM document WHERE id = ?", box.ID)
	return changed
}
