package history

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// Texts of failed requests, in the kernel's words, and how long SiYuan shows them.
const (
	noKey        = "Please initialize the data repo key first in [Settings - Account & Sync - Data repo key]"
	failedPrefix = "Failed to create data snapshot: "
	failedFor    = 5000 // how long SiYuan shows the error, in milliseconds
	emptyInput   = "Input can not be empty"
	badCharacter = `Do not include symbols \ / : * ? &quot; &#039; &lt; &gt; |`
)

// initializeRepo creates the repository with a first snapshot. It returns an empty key, since the vault encrypts
// nothing.
func initializeRepo(tx *workspace.Tx, _ api.Request) api.Reply {
	if !repoExists(tx) {
		tx.PutRecord(workspace.Record{Kind: repoKind, ID: repoKind, At: time.Now().UnixMilli()})
		takeSnapshot(tx, "[Init] Init local data repo")
	}
	return api.OK(map[string]any{"key": ""})
}

func createSnapshot(tx *workspace.Tx, req api.Request) api.Reply {
	memo := req.NeedStr("memo")
	switch {
	case !repoExists(tx):
		return api.Notice(failedPrefix+noKey, failedFor)
	case strings.TrimSpace(memo) == "":
		return api.Notice(failedPrefix+emptyInput, failedFor)
	}
	takeSnapshot(tx, memo)
	return api.Done()
}

// shownSnapshot is a snapshot in lists; lists of tags also have its tag.
type shownSnapshot struct {
	ID         string      `json:"id"`
	Memo       string      `json:"memo"`
	Created    int64       `json:"created"`
	HCreated   string      `json:"hCreated"`
	Files      any         `json:"files"`
	Count      int         `json:"count"`
	Size       int64       `json:"size"`
	HSize      string      `json:"hSize"`
	SystemID   string      `json:"systemID"`
	SystemName string      `json:"systemName"`
	SystemOS   string      `json:"systemOS"`
	Tag        string      `json:"tag"`
	HTagged    string      `json:"hTagUpdated"`
	Types      []typeCount `json:"typesCount"`
}

func (s *snapshot) shown() shownSnapshot {
	return shownSnapshot{
		ID: s.ID, Memo: s.Memo, Created: s.Created, HCreated: clock(s.Created), Count: s.Count, Size: s.Size, HSize: humanSize(s.Size),
		SystemID: "vault", SystemName: "vault", SystemOS: runtime.GOOS, Types: s.Types,
	}
}

func clock(milli int64) string { return time.UnixMilli(milli).Format(time.DateTime) }

// humanSize formats a number of bytes as the kernel does: 362 B, 42.46 kB.
func humanSize(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1000, 0
	for f >= 1000 && unit < 3 {
		f, unit = f/1000, unit+1
	}
	return fmt.Sprintf("%.2f %cB", f, "kMGT"[unit])
}

// listSnapshots returns a page of the snapshots, newest first.
func listSnapshots(tx *workspace.Tx, req api.Request) api.Reply {
	if !req.Get("page").Exists() {
		return api.Fail(-1, "Field [page] is required")
	}
	if !repoExists(tx) {
		return api.Fail(-1, noKey)
	}
	records := tx.Records(snapshotKind, "")
	total := len(records)
	from := pageStart(req, total)
	list := []shownSnapshot{}
	for i := from; i < min(from+pageSize, total); i++ {
		list = append(list, readSnapshot(&records[total-1-i]).shown())
	}
	return api.OK(map[string]any{"snapshots": list, "pageCount": pages(total), "totalCount": total})
}
