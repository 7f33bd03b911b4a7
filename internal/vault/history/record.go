package history

import (
	"encoding/json"
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the records of the data repository: snapshots and files.

// The kinds of records of the data repository.
const (
	repoKind     = "repo"            // a single record, once the repository exists
	snapshotKind = "snapshot"        // by time
	listKind     = "snapshot-list"   // ids of a snapshot's file records, under the snapshot's id
	fileKind     = "snapshot-file"   // one file in one state, under its id
	objectKind   = "snapshot-object" // the bytes of a file, under their hash
	tagKind      = "snapshot-tag"    // under the tag's name, with the snapshot as owner
)

// snapshot is one state of the workspace. The list of its files is a separate record, so that lists need not read it.
type snapshot struct {
	ID      string      `json:"-"`
	Created int64       `json:"-"` // Unix milliseconds, unique among snapshots
	Memo    string      `json:"memo"`
	Count   int         `json:"count"` // number of files
	Size    int64       `json:"size"`  // in bytes
	Types   []typeCount `json:"types"`
}

// typeCount says how many files of a snapshot have an extension, such as .sy, or NoExt.
type typeCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// file is one state of a file or document.
type file struct {
	ID      string `json:"-"`
	Path    string `json:"path"` // below /data
	Title   string `json:"title"`
	Size    int64  `json:"size"`
	Updated int64  `json:"updated"` // Unix milliseconds
	Object  string `json:"object"`  // hexadecimal SHA-256 of its bytes
	Doc     bool   `json:"doc"`     // a document, whose bytes are a .sy file
	Derived bool   `json:"derived"` // SiYuan stores this file, the vault generates it from its tables
}

func readSnapshot(r *workspace.Record) *snapshot {
	s := &snapshot{ID: r.ID, Created: r.At}
	_ = json.Unmarshal(r.Body, s) // cannot fail: only this package writes it
	return s
}

// findSnapshot returns the snapshot with an id. If there is none, the error has the kernel's text.
func findSnapshot(tx *workspace.Tx, id string) (*snapshot, error) {
	if r := tx.Record(snapshotKind, id); r != nil {
		return readSnapshot(r), nil
	}
	return nil, fmt.Errorf("open %s/repo/indexes/%s: no such file or directory", api.Root, id)
}

// files returns the ids of a snapshot's file records, in order.
func (s *snapshot) files(tx *workspace.Tx) []string {
	var ids []string
	if r := tx.Record(listKind, s.ID); r != nil {
		_ = json.Unmarshal(r.Body, &ids)
	}
	return ids
}

// findFile returns the file record with an id. If there is none, the error has the kernel's text.
func findFile(tx *workspace.Tx, id string) (file, error) {
	r := tx.Record(fileKind, id)
	if r == nil {
		return file{}, fmt.Errorf("open %s/repo/objects/%.2s/%s: no such file or directory", api.Root, id, id[min(2, len(id)):])
	}
	f := file{ID: id}
	_ = json.Unmarshal(r.Body, &f)
	return f, nil
}

// bytes returns the content of the file.
func (f *file) bytes(tx *workspace.Tx) []byte {
	if r := tx.Record(objectKind, f.Object); r != nil {
		return r.Body
	}
	return nil
}

// repoExists reports whether the repository exists.
func repoExists(tx *workspace.Tx) bool { return tx.Record(repoKind, repoKind) != nil }

// recordExists reports whether a record exists, without reading its body.
func recordExists(tx *workspace.Tx, kind, id string) (found bool) {
	tx.Rows(func(workspace.Row) bool {
		found = true
		return false
	}, "SELECT 1 FROM record WHERE kind = ? AND id = ?", kind, id)
	return found
}
