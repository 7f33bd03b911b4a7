package workspace

import "zombiezen.com/go/sqlite"

func readRecord(s *sqlite.Stmt) Record {
	r := Record{Kind: s.ColumnText(0), ID: s.ColumnText(1), Owner: s.ColumnText(2), At: s.ColumnInt64(3)}
	r.Body = make([]byte, s.ColumnLen(4))
	s.ColumnBytes(4, r.Body)
	return r
}

func (tx *state) record(kind, id string) (found *Record) {
	tx.query(func(s *sqlite.Stmt) bool {
		r := readRecord(s)
		found = &r
		return false
	}, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? AND id = ?", kind, id)
	return found
}

func (tx *state) putRecord(r Record) {
	if r.Body == nil {
		r.Body = []byte{}
	}
	tx.exec("INSERT OR REPLACE INTO record (kind, id, owner, at, body) VALUES (?, ?, ?, ?, ?)", r.Kind, r.ID, r.Owner, r.At, r.Body)
}

func (tx *state) removeRecord(kind, id string) {
	tx.exec("DELETE FROM record WHERE kind = ? AND id = ?", kind, id)
}

func (tx *state) records(kind, owner string) (list []Record) {
	each := func(s *sqlite.Stmt) bool {
		list = append(list, readRecord(s))
		return true
	}
	if owner == "" {
		tx.query(each, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? ORDER BY at, id", kind)
		return list
	}
	tx.query(each, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? AND owner = ? ORDER BY at, id", kind, owner)
	return list
}
