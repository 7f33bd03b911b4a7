package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"collie/internal/mcp"
	"collie/internal/units"
)

// This file fetches a list page by page, within limits.

// pages requests all pages of a list and calls each for every entry, until each returns false. A list that the server
// does not announce is empty. One failed page fails the list. The pages' hints about caching go into k, which may be
// nil. size returns how many entries were accepted: a page that adds none ends the list, which otherwise might never
// end.
func (l *Listing) pages(ctx context.Context, f *Feed, k *Lists, capability, method, field string, each func(json.RawMessage) bool, size func() int) error {
	if !f.client.Can(capability) {
		return nil
	}
	cursors := map[string]bool{}
	var params json.RawMessage
	for range maxPages {
		result, err := l.page(ctx, f, method, params)
		if err != nil {
			return err
		}
		k.applyCacheHints(result)
		defs := elements(mcp.Get(result, field))
		next := mcp.Get(result, "nextCursor")
		cursor, more := mcp.Text(next)
		more = more && cursor != ""
		before := size()
		for i, def := range defs {
			if !each(def) && (more || i < len(defs)-1) {
				l.markTruncated(k, field, fmt.Errorf("the list is longer than the %d entries that Collie takes, it ends there", maxEntriesOf(field)))
				return nil
			}
		}
		if !more {
			return nil
		}
		if cursors[cursor] {
			l.markTruncated(k, field, fmt.Errorf("the cursor %.40q came twice, the list ends there", cursor))
			return nil
		}
		if len(defs) > 0 && size() == before {
			l.markTruncated(k, field, errors.New("a page brought nothing new, the list ends there"))
			return nil
		}
		cursors[cursor] = true
		params = mcp.Edit(nil, mcp.Field{Key: "cursor", Value: next})
	}
	l.markTruncated(k, field, fmt.Errorf("more than %d pages, the list ends there", maxPages))
	return nil
}

// maxEntriesOf returns how many entries of a list are accepted.
func maxEntriesOf(field string) int {
	if field == "tools" {
		return maxTools
	}
	return maxEntries
}

// markTruncated records that a list was ended early.
func (l *Listing) markTruncated(k *Lists, field string, why error) {
	l.logDropped(field, why)
	if k != nil {
		k.truncated = true
	}
}

// applyCacheHints stores what a page says about how long, and for whom, it may be cached (MCP 2026-07-28, Caching).
func (k *Lists) applyCacheHints(result json.RawMessage) {
	if k == nil {
		return
	}
	if ms, err := strconv.ParseInt(string(mcp.Get(result, "ttlMs")), 10, 64); err == nil && ms > 0 {
		if d := time.Duration(min(ms, int64(maxTTL/time.Millisecond))) * time.Millisecond; k.ttl == 0 || d < k.ttl {
			k.ttl = d
		}
	}
	if scope := mcp.GetString(result, "cacheScope"); scope != "" && k.scope != "private" {
		k.scope = scope
	}
}

// maxTTL bounds how long a server may declare its lists valid.
const maxTTL = 30 * 24 * time.Hour

func (l *Listing) page(ctx context.Context, f *Feed, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pageLimit, fmt.Errorf("%s did not answer within %s", method, units.DurationWords(pageLimit)))
	defer cancel()
	return f.client.Request(ctx, method, params)
}

// elements returns the elements of a JSON array; nil for anything else.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}
