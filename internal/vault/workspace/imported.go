package workspace

import (
	"encoding/json"

	"zombiezen.com/go/sqlite"
)

// This file records where imported documents came from, and their state when they were last equal to their file.

// Origin is a place from which documents were imported.
type Origin struct {
	N int64 // 0 until it is stored
	// Place is absolute, without symbolic links.
	Place string
	// Notebook is the id of the notebook for new documents.
	Notebook string
	// State is a hash of everything that the last complete import read, "" until an import was completed.
	State string
}

// Imported is what one file of an origin became in the vault.
type Imported struct {
	Path string
	// Kind is "page" or "asset".
	Kind string
	// Target is the id of the document, or the address of the asset.
	Target string
	// Title and Parent are what the import gave to the document. Parent is an id, "" at the top of the notebook.
	Title, Parent string
	// Source is a hash of the file. Content is one of the document or asset made from it, "" for an asset that the
	// vault had before.
	Source, Content string
	// Names has the ids of headings and blocks that links refer to, by name.
	Names map[string]string
}

// Origins returns the origins, oldest first.
func (tx *Tx) Origins() (list []Origin) {
	if tx.noImports {
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

// Imported returns the records of an origin's files, by path.
func (tx *Tx) Imported(origin int64) (list []Imported) {
	if tx.noImports {
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

// PutImported adds or replaces the record of a file of an origin.
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

// RemoveImported removes the record of a file of an origin.
func (tx *Tx) RemoveImported(origin int64, path string) {
	tx.exec("DELETE FROM imported WHERE origin = ? AND path = ?", origin, path)
	tx.exec("DELETE FROM synced WHERE origin = ? AND path = ?", origin, path)
}

// Synced is the state of a document when it was last equal with its file.
type Synced struct {
	// Rev is the revision of the document.
	Rev int64
	// Content is a hash of the document, "" if it equals Content of the file's [Imported].
	Content string
}

// Synced returns the states of the documents of an origin, by the paths of their files.
func (tx *Tx) Synced(origin int64) map[string]Synced {
	states := map[string]Synced{}
	if tx.ws.version < 3 {
		return states
	}
	tx.query(func(s *sqlite.Stmt) bool {
		states[s.ColumnText(0)] = Synced{s.ColumnInt64(1), s.ColumnText(2)}
		return true
	}, "SELECT path, rev, held FROM synced WHERE origin = ?", origin)
	return states
}

// PutSynced adds or replaces the state of a file of an origin.
func (tx *Tx) PutSynced(origin int64, path string, s Synced) {
	tx.exec("INSERT OR REPLACE INTO synced (origin, path, rev, held) VALUES (?, ?, ?, ?)", origin, path, s.Rev, s.Content)
}

// Revisions returns the revisions of the documents of a notebook, by id, as they are in the file.
func (tx *Tx) Revisions(box string) map[string]int64 {
	revs := map[string]int64{}
	tx.query(func(s *sqlite.Stmt) bool {
		revs[s.ColumnText(0)] = s.ColumnInt64(1)
		return true
	}, "SELECT id, rev FROM document WHERE box = ?", box)
	return revs
}
