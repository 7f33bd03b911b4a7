package workspace

import (
	"encoding/json"

	"zombiezen.com/go/sqlite"
)

// Origin is a place from which documents were imported.
type Origin struct {
	N int64 // 0 until it is stored
	// Place is absolute, without symbolic links.
	Place string
	// Notebook is the id of the notebook for new documents.
	Notebook string
	// State is a hash of everything that the last complete import read, "" before that.
	State string
}

// Imported is what one file of an origin has become.
type Imported struct {
	Path string
	// Kind is "page" or "asset".
	Kind string
	// Target is the id of the document, or the address of the asset.
	Target string
	// Title and Parent are those given to the document; Parent is an id, "" at the top of the notebook.
	Title, Parent string
	// Source is a hash of the file, Held one of the document made of it.
	Source, Content string
	// Names are the ids of headings and blocks to which links refer.
	Names map[string]string
}

// Origins returns the origins, oldest first.
func (tx *Tx) Origins() (list []Origin) {
	if tx.old {
		return nil
	}
	tx.query(func(s *sqlite.Stmt) bool {
		list = append(list, Origin{s.ColumnInt64(0), s.ColumnText(1), s.ColumnText(2), s.ColumnText(3)})
		return true
	}, "SELECT n, place, notebook, state FROM origin ORDER BY n")
	return list
}

// PutOrigin stores an origin; a new one gets its number.
func (tx *Tx) PutOrigin(o *Origin) {
	if o.N == 0 {
		tx.exec("INSERT INTO origin (place, notebook, state) VALUES (?, ?, ?)", o.Place, o.Notebook, o.State)
		if tx.err == nil {
			o.N = tx.conn.LastInsertRowID()
		}
		return
	}
	tx.exec("UPDATE origin SET place = ?, notebook = ?, state = ? WHERE n = ?", o.Place, o.Notebook, o.State, o.N)
}

// Imported returns what the files of an origin have become, by path.
func (tx *Tx) Imported(origin int64) (list []Imported) {
	if tx.old {
		return nil
	}
	tx.query(func(s *sqlite.Stmt) bool {
		i := Imported{
			Path: s.ColumnText(0), Kind: s.ColumnText(1), Target: s.ColumnText(2), Title: s.ColumnText(3), Parent: s.ColumnText(4),
			Source: s.ColumnText(5), Content: s.ColumnText(6),
		}
		if names := s.ColumnText(7); names != "" {
			_ = json.Unmarshal([]byte(names), &i.Names) // on failure links get new ids
		}
		list = append(list, i)
		return true
	}, "SELECT path, kind, target, title, parent, source, held, names FROM imported WHERE origin = ? ORDER BY path", origin)
	return list
}

// PutImported stores what a file of an origin has become.
func (tx *Tx) PutImported(origin int64, i Imported) {
	names := ""
	if len(i.Names) > 0 {
		data, err := json.Marshal(i.Names)
		if err != nil {
			panic(err) // cannot happen with texts
		}
		names = string(data)
	}
	tx.exec(`INSERT OR REPLACE INTO imported (origin, path, kind, target, title, parent, source, held, names)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, origin, i.Path, i.Kind, i.Target, i.Title, i.Parent, i.Source, i.Content, names)
}

// RemoveImported forgets a file of an origin.
func (tx *Tx) RemoveImported(origin int64, path string) {
	tx.exec("DELETE FROM imported WHERE origin = ? AND path = ?", origin, path)
}
