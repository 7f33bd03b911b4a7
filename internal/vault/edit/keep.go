package edit

import (
	"strings"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// The operations a document is kept for, as the history names them.
const (
	Updated = "update"
	deleted = "delete"
)

// folderTime is how the time stands in the name of a folder of the history.
const folderTime = "2006-01-02-150405"

const (
	// keepEvery is how long a document may change without a copy of what it was, and keepFor how long copies stay: the
	// settings SiYuan comes with.
	keepEvery = 10 * time.Minute
	keepFor   = 30 * 24 * time.Hour
	// dropAtOnce is how many folders of old copies go at most when a new one comes.
	dropAtOnce = 64
	// keptKind is the kind of the records that say when a document was kept last, under its id.
	keptKind = "kept"
)

// Keep saves the present state of a document into the history and returns the path of the copy,
// /history/<time>-<op>/<notebook>/<path>.sy. The time is that of the machine, yyyy-MM-dd-HHmmss; a copy that would
// replace another is dated some seconds later, so none is ever lost. Copies of more than 30 days ago are dropped. op is
// Updated or Deleted.
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

// KeepBefore is for whoever is about to change the blocks, title or attributes of a document, nil for none: it keeps the
// present state if that was not done in the last ten minutes. A document younger than that has no past worth keeping. The
// functions of this package that change a document call it themselves.
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

// dropBefore removes copies made before a time, some of them if there are many.
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

// Remove removes a document with all below it and keeps a copy of each in the history.
func Remove(tx *workspace.Tx, d *tree.Document) {
	for _, gone := range tx.Below(d) {
		Keep(tx, gone, deleted)
		tx.RemoveRecord(keptKind, gone.ID())
	}
	tx.RemoveDocument(d)
}

// RemoveNotebook removes a notebook and keeps its documents in the history, and beside them the files that lay in its
// folder.
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
