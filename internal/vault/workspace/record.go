package workspace

import "zombiezen.com/go/sqlite"

// readRecord reads a record from a row with the columns kind, id, owner, at and body.
func readRecord(s *sqlite.Stmt) Record {
	r := Record{Kind: s.ColumnText(0), ID: s.ColumnText(1), Owner: s.ColumnText(2), At: s.ColumnInt64(3)}
	r.Body = make([]byte, s.ColumnLen(4))
	s.ColumnBytes(4, r.Body)
	return r
}

// Record is data that a family of endpoints stores, such as a card or a snapshot. Kind and ID identify it; lists are
// sorted by At, and may be restricted to an Owner.
type Record struct {
	Kind, ID string
	Owner    string
	At       int64
	Body     []byte
}

// Record returns a record, nil when there is none.
func (tx *Tx) Record(kind, id string) (found *Record) {
	tx.query(func(s *sqlite.Stmt) bool {
		r := readRecord(s)
		found = &r
		return false
	}, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? AND id = ?", kind, id)
	return found
}

// PutRecord adds or replaces a record.
func (tx *Tx) PutRecord(r Record) {
	if r.Body == nil {
		r.Body = []byte{}
	}
	tx.exec("INSERT OR REPLACE INTO record (kind, id, owner, at, body) VALUES (?, ?, ?, ?, ?)", r.Kind, r.ID, r.Owner, r.At, r.Body)
}

// RemoveRecord removes a record if it exists.
func (tx *Tx) RemoveRecord(kind, id string) {
	tx.exec("DELETE FROM record WHERE kind = ? AND id = ?", kind, id)
}

// Records returns the records of a kind, sorted by At and ID. If owner is not "", it returns only those of that owner.
func (tx *Tx) Records(kind, owner string) (list []Record) {
	add := func(s *sqlite.Stmt) bool {
		list = append(list, readRecord(s))
		return true
	}
	if owner == "" {
		tx.query(add, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? ORDER BY at, id", kind)
		return list
	}
	tx.query(add, "SELECT kind, id, owner, at, body FROM record WHERE kind = ? AND owner = ? ORDER BY at, id", kind, owner)
	return list
}
