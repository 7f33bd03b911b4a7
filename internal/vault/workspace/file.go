package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

const fileColumns = "SELECT path, dir, size, changed FROM file "

func readFileRow(s *sqlite.Stmt) File {
	return File{Path: s.ColumnText(0), Dir: s.ColumnBool(1), Size: s.ColumnInt64(2), Changed: time.UnixMilli(s.ColumnInt64(3))}
}

func (tx *state) stat(at string) (found *File) {
	tx.query(func(s *sqlite.Stmt) bool {
		f := readFileRow(s)
		found = &f
		return false
	}, fileColumns+"WHERE path = ?", at)
	return found
}

func (tx *state) readFile(at string) (data []byte) {
	tx.query(func(s *sqlite.Stmt) bool {
		data = make([]byte, s.ColumnLen(0))
		s.ColumnBytes(0, data)
		return false
	}, "SELECT data FROM file WHERE path = ? AND dir = 0", at)
	return data
}

func (tx *state) writeFile(at string, data []byte, changed time.Time) {
	if changed.IsZero() {
		changed = time.Now()
	}
	if data == nil {
		data = []byte{}
	}
	tx.makeDir(path.Dir(at))
	tx.exec(`INSERT INTO file (path, parent, dir, size, hash, changed, data) VALUES (?, ?, 0, ?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET dir = 0, size = excluded.size, hash = excluded.hash, changed = excluded.changed, data = excluded.data`,
		at, path.Dir(at), len(data), hashOf(data), changed.UnixMilli(), data)
}

// hashOf is the SHA-256 of what a file holds, in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (tx *state) makeDir(at string) {
	for ; at != "/" && at != "."; at = path.Dir(at) {
		tx.exec(`INSERT INTO file (path, parent, dir, size, hash, changed) VALUES (?, ?, 1, 0, '', ?) ON CONFLICT (path) DO NOTHING`,
			at, path.Dir(at), time.Now().UnixMilli())
		if tx.conn.Changes() == 0 || tx.err != nil {
			return // it was there, and so was what is above it
		}
	}
}

// under is the range of paths that lie below a folder: from it, exclusive, to it.
func under(at string) (from, to string) {
	at = strings.TrimSuffix(at, "/")
	return at + "/", at + "0" // '0' follows '/'
}

func (tx *state) removeFile(at string) {
	from, to := under(at)
	tx.exec("DELETE FROM file WHERE path = ? OR path > ? AND path < ?", at, from, to)
}

func (tx *state) renameFile(from, to string) {
	tx.makeDir(path.Dir(to))
	lo, hi := under(from)
	tx.exec(`UPDATE file SET path = ? || substr(path, length(?) + 1), parent = ? || substr(parent, length(?) + 1)
		WHERE path > ? AND path < ?`, to, from, to, from, lo, hi)
	tx.exec("UPDATE file SET path = ?, parent = ? WHERE path = ?", to, path.Dir(to), from)
}

func (tx *state) files(dir string, below bool) (list []File) {
	each := func(s *sqlite.Stmt) bool {
		list = append(list, readFileRow(s))
		return true
	}
	if !below {
		tx.query(each, fileColumns+"WHERE parent = ? ORDER BY path", dir)
		return list
	}
	from, to := under(dir)
	tx.query(each, fileColumns+"WHERE path > ? AND path < ? ORDER BY path", from, to)
	return list
}
