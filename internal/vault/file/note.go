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

// This file shows documents as files: the .sy files that SiYuan would have on disk.

// lookupNote returns the entry at a path in a notebook: the notebook's folder, its configuration or order, a document,
// or the folder of a document's children; nil if there is none.
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

// noteEntries returns those entries of a folder that represent notes.
func noteEntries(tx *workspace.Tx, dir string) map[string]*entry {
	byName := map[string]*entry{}
	if dir == "/data" {
		for _, box := range tx.Notebooks() {
			byName[box.ID] = lookupNote(tx, "/data/"+box.ID)
		}
		return byName
	}
	id, rest, ok := splitNote(dir)
	if !ok || tx.Notebook(id) == nil {
		return byName
	}
	box := tx.Notebook(id)
	switch rest {
	case "":
		byName[".siyuan"] = lookupNote(tx, dir+"/.siyuan")
		addDocuments(tx, byName, box, 0)
	case "/.siyuan":
		for _, name := range []string{"conf.json", "sort.json"} {
			byName[name] = lookupNote(tx, dir+"/"+name)
		}
	default:
		if up := statDocument(tx, box, rest+".sy"); up != nil {
			addDocuments(tx, byName, box, up.n)
		}
	}
	return byName
}

// addDocuments adds entries for the documents directly below a document, or at the top of a notebook if parent is 0,
// and for the folders of those that have children.
func addDocuments(tx *workspace.Tx, byName map[string]*entry, box *tree.Notebook, parent int64) {
	tx.Rows(func(row workspace.Row) bool {
		at, changed := row.Text(0), time.UnixMilli(row.Int(1))
		byName[path.Base(at)] = &entry{note: true, changed: changed, data: func() []byte { return documentFile(tx, box, at) }}
		if row.Int(2) != 0 {
			byName[strings.TrimSuffix(path.Base(at), ".sy")] = &entry{dir: true, note: true, changed: changed}
		}
		return true
	}, `SELECT d.path, d.changed, EXISTS (SELECT 1 FROM document AS c WHERE c.box = d.box AND c.parent = d.n)
		FROM document AS d WHERE d.box = ? AND d.parent = ?`, box.ID, parent)
}

// documentRow is the row of a document.
type documentRow struct {
	n       int64 // its number in the table
	changed time.Time
	parent  bool // it has documents below it
}

// statDocument returns the row of the document at a path, /<id>/<id>.sy, nil if there is none.
func statDocument(tx *workspace.Tx, box *tree.Notebook, at string) (found *documentRow) {
	tx.Rows(func(row workspace.Row) bool {
		found = &documentRow{row.Int(0), time.UnixMilli(row.Int(1)), row.Int(2) != 0}
		return false
	}, `SELECT d.n, d.changed, EXISTS (SELECT 1 FROM document AS c WHERE c.box = d.box AND c.parent = d.n)
		FROM document AS d WHERE d.id = ? AND d.box = ? AND d.path = ?`, strings.TrimSuffix(path.Base(at), ".sy"), box.ID, at)
	return found
}

// documentAt returns the document at a path, loaded, or nil. It also works in closed notebooks, whose files can be read
// too.
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

// child returns the document with an id directly below parent, or at the top of box if parent is nil; nil if there is none.
func child(tx *workspace.Tx, box *tree.Notebook, parent *tree.Document, id string) *tree.Document {
	for _, d := range tx.Children(box, parent) {
		if d.ID() == id {
			return d
		}
	}
	return nil
}

// documentFile returns the .sy file of the document at a path, nil if there is none.
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

// sortFile returns the file with the manual order of a notebook's documents, by id.
func sortFile(tx *workspace.Tx, box *tree.Notebook) []byte {
	sorted := map[string]int64{}
	tx.Rows(func(row workspace.Row) bool {
		sorted[row.Text(0)] = row.Int(1)
		return true
	}, "SELECT id, sort FROM document WHERE box = ?", box.ID)
	return api.MustJSON(sorted)
}

// boxTime returns when the page of a notebook last changed; without a page, when the notebook was created.
func boxTime(tx *workspace.Tx, box *tree.Notebook) time.Time {
	changed := tree.IDTime(box.ID)
	tx.Rows(func(row workspace.Row) bool {
		changed = time.UnixMilli(row.Int(0))
		return false
	}, "SELECT changed FROM document WHERE id = ?", box.ID)
	return changed
}
