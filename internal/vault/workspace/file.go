package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// This file stores assets and other files.

const fileColumns = "SELECT path, dir, size, changed FROM file "

func readFileRow(s *sqlite.Stmt) File {
	return File{Path: s.ColumnText(0), Dir: s.ColumnBool(1), Size: s.ColumnInt64(2), Changed: time.UnixMilli(s.ColumnInt64(3))}
}

// File is a file or folder that is stored beside the notes. Its path is absolute, such as /data/assets/a.png.
type File struct {
	Path    string
	Dir     bool
	Size    int64
	Changed time.Time
}

// Stat returns a file or folder, or nil.
func (tx *Tx) Stat(at string) (found *File) {
	tx.query(func(s *sqlite.Stmt) bool {
		f := readFileRow(s)
		found = &f
		return false
	}, fileColumns+"WHERE path = ?", at)
	return found
}

// ReadFile returns the content of a file, nil if it is a folder or missing.
func (tx *Tx) ReadFile(at string) (data []byte) {
	tx.query(func(s *sqlite.Stmt) bool {
		data = make([]byte, s.ColumnLen(0))
		s.ColumnBytes(0, data)
		return false
	}, "SELECT data FROM file WHERE path = ? AND dir = 0", at)
	return data
}

// WriteFile creates or replaces a file, and creates the folders above it. A zero time means now. at must not be a folder, nor lie
// below a file.
func (tx *Tx) WriteFile(at string, data []byte, changed time.Time) {
	if changed.IsZero() {
		changed = time.Now()
	}
	if data == nil {
		data = []byte{}
	}
	tx.MakeDir(path.Dir(at))
	tx.exec(`INSERT INTO file (path, parent, dir, size, hash, changed, data) VALUES (?, ?, 0, ?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET dir = 0, size = excluded.size, hash = excluded.hash, changed = excluded.changed, data = excluded.data`,
		at, path.Dir(at), len(data), hashOf(data), changed.UnixMilli(), data)
}

// hashOf returns the hexadecimal SHA-256 of a file's content.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// MakeDir creates a folder and those above it, if they are missing.
func (tx *Tx) MakeDir(at string) {
	for ; at != "/" && at != "."; at = path.Dir(at) {
		tx.exec(`INSERT INTO file (path, parent, dir, size, hash, changed) VALUES (?, ?, 1, 0, '', ?) ON CONFLICT (path) DO NOTHING`,
			at, path.Dir(at), time.Now().UnixMilli())
		if tx.conn.Changes() == 0 || tx.err != nil {
			return // it exists, and so do those above it
		}
	}
}

// pathRange returns the exclusive bounds of the paths below a folder.
func pathRange(at string) (from, to string) {
	at = strings.TrimSuffix(at, "/")
	return at + "/", at + "0" // '0' follows '/'
}

// RemoveFile removes a file, or a folder with everything in it.
func (tx *Tx) RemoveFile(at string) {
	from, to := pathRange(at)
	tx.exec("DELETE FROM file WHERE path = ? OR path > ? AND path < ?", at, from, to)
}

// RenameFile moves a file, or a folder with everything in it, and creates the folders above the new path.
func (tx *Tx) RenameFile(from, to string) {
	tx.MakeDir(path.Dir(to))
	lo, hi := pathRange(from)
	tx.exec(`UPDATE file SET path = ? || substr(path, length(?) + 1), parent = ? || substr(parent, length(?) + 1)
		WHERE path > ? AND path < ?`, to, from, to, from, lo, hi)
	tx.exec("UPDATE file SET path = ?, parent = ? WHERE path = ?", to, path.Dir(to), from)
}

// Files returns the files and folders directly below a folder, by name.
func (tx *Tx) Files(dir string) []File { return tx.files(dir, false) }

// FilesBelow returns everything below a folder, by path.
func (tx *Tx) FilesBelow(dir string) []File { return tx.files(dir, true) }

// files returns the entries directly below a folder, or all below it if deep.
func (tx *Tx) files(dir string, deep bool) (list []File) {
	add := func(s *sqlite.Stmt) bool {
		list = append(list, readFileRow(s))
		return true
	}
	if !deep {
		tx.query(add, fileColumns+"WHERE parent = ? ORDER BY path", dir)
		return list
	}
	from, to := pathRange(dir)
	tx.query(add, fileColumns+"WHERE path > ? AND path < ? ORDER BY path", from, to)
	return list
}
