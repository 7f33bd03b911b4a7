package edit

import (
	"strings"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file saves copies of documents in the history before they change.

// The operations before which a document is saved, by their names in the history.
const (
	Updated = "update"
	deleted = "delete"
)

// folderTime is the format of times in the names of history folders.
const folderTime = "2006-01-02-150405"

const (
	// minInterval is how long a document may change without another copy, maxAge how long copies are kept: SiYuan's
	// defaults.
	minInterval = 10 * time.Minute
	maxAge      = 30 * 24 * time.Hour
	// maxDropped bounds how many folders of old copies are removed at a time.
	maxDropped = 64
	// copyKind is the kind of records that have, by document id, when a document was last saved.
	copyKind = "kept"
)

// SaveCopy saves a copy of the current state of a document into the history and returns its path,
// /history/<time>-<op>/<notebook>/<path>.sy. The time is local, yyyy-MM-dd-HHmmss. If there is such a copy already, the
// new one is dated some seconds later. Copies older than 30 days are removed. op is Updated or "delete".
func SaveCopy(tx *workspace.Tx, d *tree.Document, op string) (path string) {
	tx.Load(d)
	now := time.Now()
	for at := now; ; at = at.Add(time.Second) {
		path = "/history/" + at.Format(folderTime) + "-" + op + "/" + d.Box.ID + d.Path()
		if tx.Stat(path) == nil || tx.Err() != nil {
			break
		}
	}
	dropBefore(tx, now.Add(-maxAge))
	tx.WriteFile(path, markup.SY(d), now)
	if op == Updated {
		tx.PutRecord(workspace.Record{Kind: copyKind, ID: d.ID(), At: now.UnixMilli()})
	}
	return path
}

// SaveBefore saves a copy of a document before its blocks, title or attributes change, unless one was made in the last
// ten minutes or the document is younger than that. It ignores a nil document, and one that is not loaded. The functions
// of this package call it themselves.
func SaveBefore(tx *workspace.Tx, d *tree.Document) {
	if d == nil || !d.Loaded {
		return
	}
	last := tree.IDTime(d.ID())
	if r := tx.Record(copyKind, d.ID()); r != nil {
		last = time.UnixMilli(r.At)
	}
	if time.Since(last) >= minInterval {
		SaveCopy(tx, d, Updated)
	}
}

// dropBefore removes copies made before a time, but at most maxDropped folders.
func dropBefore(tx *workspace.Tx, before time.Time) {
	var dirs []string
	tx.Rows(func(row workspace.Row) bool {
		dirs = append(dirs, row.Text(0))
		return true
	}, `SELECT path FROM file WHERE path > '/history/' AND path < ? AND parent = '/history' LIMIT ?`,
		"/history/"+before.Format(folderTime), maxDropped)
	for _, dir := range dirs {
		tx.RemoveFile(dir)
	}
}

// Remove saves a document and all documents below it into the history, and removes them.
func Remove(tx *workspace.Tx, d *tree.Document) {
	for _, doc := range tx.Below(d) {
		SaveCopy(tx, doc, deleted)
		tx.RemoveRecord(copyKind, doc.ID())
	}
	tx.RemoveDocument(d)
}

// RemoveNotebook removes a notebook, and saves its documents and the files in its folder into the history.
func RemoveNotebook(tx *workspace.Tx, box *tree.Notebook) {
	now := time.Now()
	for _, d := range tx.Documents(box) {
		SaveCopy(tx, d, deleted)
		tx.RemoveRecord(copyKind, d.ID())
	}
	tx.RemoveNotebook(box)
	from, to := "/data/"+box.ID, "/history/"+now.Format(folderTime)+"-"+deleted+"/"+box.ID
	for _, f := range tx.FilesBelow(from) {
		if !f.Dir {
			tx.RenameFile(f.Path, to+strings.TrimPrefix(f.Path, from))
		}
	}
	tx.RemoveFile(from)
}
