package history

import (
	"strings"
	"time"

	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// tag gives a snapshot a tag. A tag with that name on another snapshot is moved.
func tag(tx *workspace.Tx, req api.Request) api.Reply {
	id, name := req.NeedText("id"), req.NeedStr("name")
	switch {
	case strings.TrimSpace(name) == "":
		return api.Notice(failedPrefix+emptyInput, failedFor)
	case strings.ContainsAny(name, `\/:*?"'<>|`):
		return api.Notice(failedPrefix+badCharacter, failedFor)
	}
	s, err := findSnapshot(tx, id)
	if err != nil {
		return api.Notice(failedPrefix+err.Error(), failedFor)
	}
	tx.PutRecord(workspace.Record{Kind: tagKind, ID: name, Owner: s.ID, At: time.Now().UnixMilli()})
	return api.Done()
}

// listTags returns the tags by name, each with its snapshot.
func listTags(tx *workspace.Tx, _ api.Request) api.Reply {
	if !repoExists(tx) {
		return api.Fail(-1, noKey)
	}
	tags := tx.Records(tagKind, "")
	sorting.By(tags, func(a, b workspace.Record) int { return strings.Compare(a.ID, b.ID) })
	list := []shownSnapshot{}
	for _, r := range tags {
		if s, err := findSnapshot(tx, r.Owner); err == nil {
			entry := s.shown()
			entry.Tag, entry.HTagged = r.ID, clock(r.At)
			list = append(list, entry)
		}
	}
	return api.OK(map[string]any{"snapshots": list})
}
