package history

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // names, as long as those of SiYuan; nothing is proved by them
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file takes snapshots of the workspace.

// takeSnapshot stores a snapshot of the workspace, unless nothing has changed since the last one.
func takeSnapshot(tx *workspace.Tx, memo string) {
	contents := sources(tx)
	ids := make([]string, len(contents))
	for i, s := range contents {
		ids[i] = s.id()
	}
	slices.Sort(ids)
	last := lastSnapshot(tx)
	created := time.Now().UnixMilli()
	stored := map[string]bool{}
	if last != nil {
		lastFiles := last.files(tx)
		if slices.Equal(lastFiles, ids) {
			return
		}
		for _, id := range lastFiles {
			stored[id] = true
		}
		created = max(created, last.Created+1)
	}
	for _, s := range contents {
		if id := s.id(); !stored[id] && !recordExists(tx, fileKind, id) {
			storeFile(tx, id, s)
		}
	}
	list := api.MustJSON(ids)
	next := snapshot{ID: hashName("snapshot", memo, created, string(list)), Memo: memo, Count: len(ids), Size: totalSize(tx, list), Types: countTypes(contents)}
	tx.PutRecord(workspace.Record{Kind: listKind, ID: next.ID, Body: list})
	tx.PutRecord(workspace.Record{Kind: snapshotKind, ID: next.ID, At: created, Body: api.MustJSON(next)})
}

// lastSnapshot returns the newest snapshot, or nil.
func lastSnapshot(tx *workspace.Tx) *snapshot {
	id := ""
	tx.Rows(func(row workspace.Row) bool {
		id = row.Text(0)
		return false
	}, "SELECT id FROM record WHERE kind = ? AND owner = '' ORDER BY at DESC LIMIT 1", snapshotKind)
	if r := tx.Record(snapshotKind, id); r != nil {
		return readSnapshot(r)
	}
	return nil
}

// storeFile stores the current state of a file under id, and its bytes unless another file has the same.
func storeFile(tx *workspace.Tx, id string, s source) {
	f, data := s.read(tx)
	sum := sha256.Sum256(data)
	f.Path, f.Size, f.Object = s.path, int64(len(data)), hex.EncodeToString(sum[:])
	if !recordExists(tx, objectKind, f.Object) {
		tx.PutRecord(workspace.Record{Kind: objectKind, ID: f.Object, Body: data})
	}
	tx.PutRecord(workspace.Record{Kind: fileKind, ID: id, Body: api.MustJSON(f)})
}

// hashName returns a name made from parts: their SHA-1 in hexadecimal. Different things need different parts.
func hashName(parts ...any) string {
	encoded, _ := json.Marshal(parts) // texts and numbers
	return sha1Hex(encoded)
}

func sha1Hex(data []byte) string {
	sum := sha1.Sum(data) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// totalSize returns the total bytes of the files in list, a JSON list of ids.
func totalSize(tx *workspace.Tx, list []byte) (n int64) {
	tx.Rows(func(row workspace.Row) bool {
		n = row.Int(0)
		return false
	}, `SELECT sum(json_extract(CAST(record.body AS TEXT), '$.size')) FROM json_each(?) AS listed
		CROSS JOIN record ON record.kind = ? AND record.id = listed.value`, string(list), fileKind)
	return n
}

// countTypes counts files by extension, the most frequent first.
func countTypes(contents []source) []typeCount {
	counts := map[string]int{}
	for _, s := range contents {
		counts[cmp.Or(path.Ext(s.path), "NoExt")]++
	}
	list := make([]typeCount, 0, len(counts))
	for ext, n := range counts {
		list = append(list, typeCount{ext, n})
	}
	sorting.By(list, func(a, b typeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Type, b.Type))
	})
	return list
}
