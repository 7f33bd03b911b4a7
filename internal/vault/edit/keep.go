package edit

import (
	"strings"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// The operations before which a document is saved, as the history names them.
const (
	Updated = "update"
	deleted = "delete"
)

// folderTime is the format of times in the names of history folders.
const folderTime = "2006-01-02-150405"

const (
	// keepEvery is how long a document may change without another copy, keepFor how long copies stay: SiYuan's
	// defaults.
	keepEvery = 10 * time.Minute
	keepFor   = 30 * 24 * time.Hour
	// dropAtOnce bounds the folders of old copies that are removed at once.
	dropAtOnce = 64
	// keptKind is the kind of the records, by document id, of when a document was last saved.
	keptKind = "kept"
)

// Keep saves the current state of a document into the history and returns the path of the copy,
// /history/<time>-<op>/<notebook>/<path>.sy. The time is local, yyyy-MM-dd-HHmmss; if a copy has that name already,
// the new one is dated some seconds later. Copies older than 30 days are removed. op is Updated or Deleted.
func Keep(tx *workspace.Tx, d *tree.Document, op string) (path string) {
	tx.Load(d)
	now := time.Now()
	for at := now; ; at = at.Add(time.Second) {
		path = "/history/" + at.Format(folderTime) + "-" + op + "/" + d.Box.ID + d.Path()
		if tx.Stat(path) == nil || tx.Err() != nil {
			break
		}
	}
	dropBefore(tx, now.Add(-keepFor))
	tx.WriteFile(path, markup.SY(d), now)
	if op == Updated {
		tx.PutRecord(workspace.Record{Kind: keptKind, ID: d.ID(), At: now.UnixMilli()})
	}
	return path
}

// KeepBefore saves the current state of a document before its blocks, title or attributes change, unless that was
// done in the last ten minutes, or the document is younger than that. A nil document is ignored. The functions of
// this package call it themselves.
func KeepBefore(tx *workspace.Tx, d *tree.Document) {
	if d == nil || !d.Loaded {
		return
	}
	last := tree.IDTime(d.ID())
	if r := tx.Record(keptKind, d.ID()); r != nil {
		last = time.UnixMilli(r.At)
	}
	if time.Since(last) >= keepEvery {
		Keep(tx, d, Updated)
	}
}

// dropBefore removes copies made before a time; if there are many, only some of them.
func dropBefore(tx *workspace.Tx, before time.Time) {
	var old []string
	tx.Rows(func(row workspace.Row) bool {
		old = append(old, row.Text(0))
		return true
	}, `SELECT path FROM file WHERE path > '/history/' AND path < ? AND parent = '/history' LIMIT ?`,
		"/history/"+before.Format(folderTime), dropAtOnce)
	for _, dir := range old {
		tx.RemoveFile(dir)
	}
}

// Remove removes a document with all below it, and saves each into the history.
func Remove(tx *workspace.Tx, d *tree.Document) {
	for _, gone := range tx.Below(d) {
		Keep(tx, gone, deleted)
		tx.RemoveRecord(keptKind, gone.ID())
	}
	tx.RemoveDocument(d)
}

// RemoveNotebook removes a notebook, and saves its documents and the files in its folder into the history.
func RemoveNotebook(tx *workspace.Tx, box *tree.Notebook) {
	now := time.Now()
	for _, d := range tx.Documents(box) {
		Keep(tx, d, deleted)
		tx.RemoveRecord(keptKind, d.ID())
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
