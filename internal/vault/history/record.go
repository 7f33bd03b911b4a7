package history

import (
	"encoding/json"
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// The kinds of records of the data repository.
const (
	repoKind     = "repo"          // one record, once the repository was made
	snapshotKind = "snapshot"      // by time
	listKind     = "snapshot-list" // what a snapshot holds, under the snapshot's id
	fileKind     = "snapshot-file" // one file as it was, under its id
	objectKind   = "snapshot-object"
	tagKind      = "snapshot-tag" // under its name, with the snapshot as the owner
)

// snapshot is one state of the workspace. What it holds is a record of its own, so that lists need not read it.
type snapshot struct {
	ID      string      `json:"-"`
	Created int64       `json:"-"` // Unix milliseconds; no two snapshots have the same
	Memo    string      `json:"memo"`
	Count   int         `json:"count"` // of files
	Size    int64       `json:"size"`  // in bytes
	Types   []typeCount `json:"types"`
}

// typeCount says how many files of a snapshot have an extension, such as .sy, or NoExt.
type typeCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// file is a file or document as it was at some time.
type file struct {
	ID      string `json:"-"`
	Path    string `json:"path"` // below /data
	Title   string `json:"title"`
	Size    int64  `json:"size"`
	Updated int64  `json:"updated"` // Unix milliseconds
	Object  string `json:"object"`  // SHA-256 of its bytes in hex
	Doc     bool   `json:"doc"`     // a document, whose bytes are a .sy file
	Derived bool   `json:"derived"` // a file that SiYuan has and that follows from the tree here
}

func readSnapshot(r *workspace.Record) *snapshot {
	s := &snapshot{ID: r.ID, Created: r.At}
	_ = json.Unmarshal(r.Body, s) // only this package writes it
	return s
}

// findSnapshot is the snapshot with an id, or the error of one that does not exist.
func findSnapshot(tx *workspace.Tx, id string) (*snapshot, error) {
	if r := tx.Record(snapshotKind, id); r != nil {
		return readSnapshot(r), nil
	}
	return nil, fmt.Errorf("open %s/repo/indexes/%s: no such file or directory", api.Root, id)
}

// files are the ids of what a snapshot holds, in order.
func (s *snapshot) files(tx *workspace.Tx) []string {
	var ids []string
	if r := tx.Record(listKind, s.ID); r != nil {
		_ = json.Unmarshal(r.Body, &ids)
	}
	return ids
}

// findFile is the file with an id, or the error of one that does not exist.
func findFile(tx *workspace.Tx, id string) (file, error) {
	r := tx.Record(fileKind, id)
	if r == nil {
		return file{}, fmt.Errorf("open %s/repo/objects/%.2s/%s: no such file or directory", api.Root, id, id[min(2, len(id)):])
	}
	f := file{ID: id}
	_ = json.Unmarshal(r.Body, &f)
	return f, nil
}

// bytes are what the file held.
func (f *file) bytes(tx *workspace.Tx) []byte {
	if r := tx.Record(objectKind, f.Object); r != nil {
		return r.Body
	}
	return nil
}

// ready reports whether the repository was made.
func ready(tx *workspace.Tx) bool { return tx.Record(repoKind, repoKind) != nil }

// exists reports whether there is a record, without reading it.
func exists(tx *workspace.Tx, kind, id string) (found bool) {
	tx.Rows(func(workspace.Row) bool {
		found = true
		return false
	}, "SELECT 1 FROM record WHERE kind = ? AND id = ?", kind, id)
	return found
}
