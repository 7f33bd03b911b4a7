package timeline

import (
	"context"
	"strconv"
	"strings"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action timeline.compare_recent, which shows what changed in a document lately.

type compareArgs struct {
	Document kernel.ID `json:"documentId" about:"document" req:"true"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1"`
	Size     int       `json:"pageSize" about:"changes a page" default:"20" min:"1" max:"100"`
}

type comparison struct {
	Document kernel.ID      `json:"documentId" about:"the document"`
	Found    bool           `json:"found" about:"whether one of the last 5 copies differs from now"`
	Looked   int            `json:"checkpoints" about:"copies that were looked at"`
	Path     string         `json:"historyPath,omitempty" about:"the copy, for rollback_document"`
	Created  string         `json:"created,omitempty" about:"when it was made"`
	Summary  map[string]int `json:"summary" about:"changes by kind: added, removed, changed, moved"`
	action.Page[change]
}

// maxCopies bounds how many copies are compared.
const maxCopies = 5

// compareRecent returns the action compare_recent of the tool timeline.
func compareRecent() *action.Action {
	return action.New(action.Spec{
		Tool: "timeline", Name: "compare_recent", Purpose: "Show what changed in a document since its last different copy", Common: true,
		Guide: "Reads only. SiYuan keeps copies every few minutes of editing; one that was just made shows after some seconds.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Needs: []action.Need{action.OnDocument(access.Read, "documentId")},
		Endpoints: []string{"history/searchHistory", "history/getHistoryItems", "history/getDocHistoryContent", "block/getBlockDOM", "block/getChildBlocks", "sqlite/flushTransaction", "query/sql"},
		Aliases:   map[string]string{"id": "documentId"},
		Result:    comparison{},
		Example:   `{"documentId":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a compareArgs) (any, error) {
		target := r.Target("documentId")
		out := comparison{Document: target.Root, Summary: countByKind(nil)}
		present, err := visibleBlocks(ctx, r, target.Root)
		if err != nil {
			return nil, err
		}
		copies, err := copiesOf(ctx, r, &target)
		if err != nil {
			return nil, err
		}
		var changes []change
		for _, c := range copies {
			version, err := readCopy(ctx, r, &target, c.Path)
			if err != nil {
				return nil, err
			}
			out.Looked++
			if version.Content, err = content.Redact(ctx, r, version.Content); err != nil {
				return nil, err
			}
			if changes = diffBlocks(parseBlocks(version.Content), present); len(changes) > 0 {
				out.Found, out.Path, out.Created, out.Summary = true, c.Path, c.created, countByKind(changes)
				break
			}
		}
		out.Page = action.Paged(changes, a.Page, a.Size)
		return out, nil
	})
}

// historyCopy is one copy of a document.
type historyCopy struct {
	kernel.HistoryItem
	created string
}

// copiesOf returns the newest copies of a document that were made in its current notebook, at most maxCopies.
func copiesOf(ctx context.Context, r *action.Request, target *action.Target) ([]historyCopy, error) {
	times, err := r.Kernel.HistoryTimes(ctx, target.Root)
	if err != nil {
		return nil, err
	}
	var out []historyCopy
	for _, at := range times {
		items, err := r.Kernel.HistoryItems(ctx, target.Root, at)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if isCopyOf(item.Path, target) && len(out) < maxCopies {
				out = append(out, historyCopy{item, formatHistoryTime(at)})
			}
		}
		if len(out) >= maxCopies {
			break
		}
	}
	return out, nil
}

// formatHistoryTime formats a time from the history, which is in seconds since 1970.
func formatHistoryTime(seconds string) string {
	n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return seconds
	}
	return time.Unix(n, 0).Format(time.RFC3339)
}
