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

// loadBoxes reads all notebooks, of which there are few.
func (tx *state) loadBoxes() {
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

func (tx *state) notebooks() []*tree.Notebook {
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

func (tx *state) notebook(id string) *tree.Notebook {
	tx.loadBoxes()
	if b := tx.boxes[id]; b != nil {
		return b.Notebook
	}
	return nil
}

func (tx *state) openNotebook(id string) *tree.Notebook {
	box := tx.notebook(id)
	if box == nil || box.Conf.Closed || !tx.documentTaken(id) {
		return nil
	}
	return box
}

func (tx *state) createNotebook(name string) *tree.Notebook {
	for _, other := range tx.notebooks() {
		other.Conf.Sort++
	}
	box := &tree.Notebook{ID: tx.newID(), Conf: tree.NewConf(name)}
	tx.addNotebook(box)
	page := &tree.Block{ID: box.ID, Kind: tree.Doc, Attrs: map[string]string{
		"custom-hidden": "true", "id": box.ID, "title": name, "type": "doc", "updated": box.ID[:14],
	}}
	tx.insertDocument(&tree.Document{Root: page, Box: box}, []*tree.Block{tx.emptyParagraph()})
	return box
}

func (tx *state) addNotebook(b *tree.Notebook) {
	tx.loadBoxes()
	conf := confJSON(b)
	tx.exec("INSERT INTO notebook (id, conf, closed, sort) VALUES (?, ?, ?, ?)", b.ID, conf, b.Conf.Closed, b.Conf.Sort)
	tx.boxes[b.ID] = &box{Notebook: b, stored: conf}
}

// flushNotebooks writes the configurations that changed.
func (tx *state) flushNotebooks() {
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
		panic(err) // texts, numbers and flags
	}
	return string(data)
}

func (tx *state) removeNotebook(b *tree.Notebook) {
	tx.flush()
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

func (tx *state) page(b *tree.Notebook) *tree.Document {
	n, found := tx.number("SELECT n FROM document WHERE id = ?", b.ID)
	if !found {
		return nil
	}
	d := tx.docByN(n)
	tx.load(d)
	return d
}
