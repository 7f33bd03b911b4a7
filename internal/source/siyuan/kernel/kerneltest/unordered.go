package kerneltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// anyOrder lists endpoints whose lists have no reliable order and may contain duplicates: rows without an ORDER BY,
// ids made within one second.
var anyOrder = map[string]bool{
	"/api/query/sql": true, "/api/filetree/searchDocs": true, "/api/filetree/getIDsByHPath": true,
	"/api/file/readDir": true,
}

// unordered sorts the entries of two data lists alike and drops duplicates, so that they can be compared one by one.
// Entries that differ only in unknown ids cannot be told apart: then it freezes what c knows about ids.
func (c *comparer) unordered(want, got any) (any, any) {
	a, isEnvelope := want.(map[string]any)
	b, isToo := got.(map[string]any)
	if !isEnvelope || !isToo {
		return want, got
	}
	recorded, isList := a["data"].([]any)
	ours, isListToo := b["data"].([]any)
	if !isList || !isListToo {
		return want, got
	}
	a, b = maps.Clone(a), maps.Clone(b)
	a["data"], b["data"] = c.arranged(recorded), c.arranged(ours)
	return a, b
}

// arranged sorts entries by what is known of them, ignoring new ids, times and hashes.
func (c *comparer) arranged(list []any) []any {
	type keyed struct {
		entry      any
		key, exact string
	}
	entries := make([]keyed, len(list))
	for i, entry := range list {
		exact, _ := json.Marshal(entry)
		entries[i] = keyed{entry, c.masked(c.mapped(arrangeKey(entry))), string(exact)}
	}
	slices.SortStableFunc(entries, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	var items []any
	seen := map[string]bool{}
	for i, e := range entries {
		if seen[e.exact] {
			continue
		}
		seen[e.exact] = true
		items = append(items, e.entry)
		if i > 0 && entries[i-1].key == e.key && entries[i-1].exact != e.exact {
			c.frozen = true
		}
	}
	if items == nil {
		items = []any{}
	}
	return items
}

func arrangeKey(entry any) string {
	if row, isRow := entry.(map[string]any); isRow {
		row = maps.Clone(row)
		maps.DeleteFunc(row, func(name string, _ any) bool { return looseKeys[name] || name == "ial" })
		entry = row
	}
	data, _ := json.Marshal(entry)
	return string(data)
}
