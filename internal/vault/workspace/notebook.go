package workspace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file has the notebooks: their list, and adding, changing and removing them.

// loadBoxes reads all notebooks; there are few.
func (tx *Tx) loadBoxes() {
	if tx.boxes != nil {
		return
	}
	tx.boxes = map[string]*box{}
	tx.query(func(s *sqlite.Stmt) bool {
		b := &box{Notebook: &tree.Notebook{ID: s.ColumnText(0)}, stored: s.ColumnText(1)}
		if err := json.Unmarshal([]byte(b.stored), &b.Conf); err != nil {
			tx.fail(fmt.Errorf("notebook %s: read its configuration: %w", b.ID, err))
			return false
		}
		tx.boxes[b.ID] = b
		return true
	}, "SELECT id, conf FROM notebook")
}

// Notebooks returns all notebooks, open or closed, by Conf.Sort, and by id where that is equal.
func (tx *Tx) Notebooks() []*tree.Notebook {
	tx.loadBoxes()
	list := make([]*tree.Notebook, 0, len(tx.boxes))
	for _, b := range tx.boxes {
		list = append(list, b.Notebook)
	}
	slices.SortFunc(list, func(a, b *tree.Notebook) int {
		return cmp.Or(cmp.Compare(a.Conf.Sort, b.Conf.Sort), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Notebook returns the notebook with an id, open or closed, or nil.
func (tx *Tx) Notebook(id string) *tree.Notebook {
	tx.loadBoxes()
	if b := tx.boxes[id]; b != nil {
		return b.Notebook
	}
	return nil
}

// OpenNotebook returns the notebook with an id if it is open and has a page, else nil.
func (tx *Tx) OpenNotebook(id string) *tree.Notebook {
	box := tx.Notebook(id)
	if box == nil || box.Conf.Closed || !tx.DocumentExists(id) {
		return nil
	}
	return box
}

// CreateNotebook adds an open notebook before the others. Its page has an empty paragraph.
func (tx *Tx) CreateNotebook(name string) *tree.Notebook {
	for _, other := range tx.Notebooks() {
		other.Conf.Sort++
	}
	box := &tree.Notebook{ID: tx.NewID(), Conf: tree.NewConf(name)}
	tx.AddNotebook(box)
	page := &tree.Block{ID: box.ID, Kind: tree.Doc, Attrs: map[string]string{
		"custom-hidden": "true", "id": box.ID, "title": name, "type": "doc", "updated": box.ID[:14],
	}}
	tx.insertDocument(&tree.Document{Root: page, Box: box}, []*tree.Block{tx.EmptyParagraph()})
	return box
}

// AddNotebook adds a notebook as it is, without a page. A closed notebook without a page is a ghost, which has only a
// configuration. Changes to the Conf of a notebook from tx are detected like those of trees and need no call.
func (tx *Tx) AddNotebook(b *tree.Notebook) {
	tx.loadBoxes()
	conf := confJSON(b)
	tx.exec("INSERT INTO notebook (id, conf, closed, sort) VALUES (?, ?, ?, ?)", b.ID, conf, b.Conf.Closed, b.Conf.Sort)
	tx.boxes[b.ID] = &box{Notebook: b, stored: conf}
}

// flushNotebooks writes the configurations that changed, and adds or removes the notebook's blocks in the full text
// index if it was opened or closed.
func (tx *Tx) flushNotebooks() {
	for _, b := range tx.boxes {
		conf := confJSON(b.Notebook)
		if conf == b.stored {
			continue
		}
		wasClosed, _ := tx.number("SELECT closed FROM notebook WHERE id = ?", b.ID)
		if b.Conf.Closed && wasClosed == 0 {
			tx.unindex(inNotebook, b.ID)
		}
		tx.exec("UPDATE notebook SET conf = ?, closed = ?, sort = ? WHERE id = ?", conf, b.Conf.Closed, b.Conf.Sort, b.ID)
		if !b.Conf.Closed && wasClosed == 1 {
			tx.index(inNotebook, b.ID)
		}
		b.stored = conf
	}
}

func confJSON(b *tree.Notebook) string {
	data, err := json.Marshal(b.Conf)
	if err != nil {
		panic(err) // cannot happen with texts, numbers and flags
	}
	return string(data)
}

// RemoveNotebook removes a notebook with its documents. The files below its folder stay.
func (tx *Tx) RemoveNotebook(b *tree.Notebook) {
	tx.Flush()
	var docs []int64
	tx.query(func(s *sqlite.Stmt) bool {
		docs = append(docs, s.ColumnInt64(0))
		return true
	}, "SELECT n FROM document WHERE box = ?", b.ID)
	for _, n := range docs {
		tx.eraseDocument(n)
	}
	tx.exec("DELETE FROM notebook WHERE id = ?", b.ID)
	delete(tx.boxes, b.ID)
}

// Page returns the hidden document of a notebook, open or closed, loaded; nil for a ghost.
func (tx *Tx) Page(b *tree.Notebook) *tree.Document {
	n, found := tx.number("SELECT n FROM document WHERE id = ?", b.ID)
	if !found {
		return nil
	}
	d := tx.docByN(n)
	tx.Load(d)
	return d
}
