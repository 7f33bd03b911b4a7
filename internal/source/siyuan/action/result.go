package action

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/kernel"
)

// This file finishes the result of an action: pages of lists, and which parts of SiYuan's interface reload.

// Page is a part of a list. A result with further members embeds a Page beside them.
type Page[T any] struct {
	Data []T `json:"data" about:"what is on this page"`
	Pages
}

// Pages says which part of a list a page is.
type Pages struct {
	Total       int  `json:"total" about:"how many there are on all pages"`
	Page        int  `json:"page" about:"this page, from 1"`
	PageSize    int  `json:"pageSize" about:"how many a page holds"`
	PageCount   int  `json:"pageCount" about:"how many pages there are"`
	HasNextPage bool `json:"hasNextPage" about:"whether there is another page"`
}

// Paged returns one page of all; page counts from 1, and one beyond the end means the last.
func Paged[T any](all []T, page, size int) Page[T] {
	size = max(size, 1)
	count := max(1, (len(all)+size-1)/size)
	page = min(max(page, 1), count)
	from := (page - 1) * size
	data := all[from:min(from+size, len(all))]
	if data == nil {
		data = []T{}
	}
	return Page[T]{data, Pages{len(all), page, size, count, page < count}}
}

// refresh is a part of SiYuan's interface to reload after a write.
type refresh struct {
	Type string    `json:"type"`
	ID   kernel.ID `json:"id,omitempty"`
}

// Requests to reload parts of SiYuan's interface. Each is sent once, after the action has succeeded; if it fails, the
// action still succeeds.

// RefreshDocument reloads a document.
func (r *Request) RefreshDocument(id kernel.ID) { r.addRefresh(refresh{"reloadProtyle", id}) }

// RefreshDatabase reloads a database.
func (r *Request) RefreshDatabase(id kernel.ID) { r.addRefresh(refresh{"reloadAttributeView", id}) }

// RefreshTree reloads the tree of documents.
func (r *Request) RefreshTree() { r.addRefresh(refresh{Type: "reloadFiletree"}) }

// RefreshIcons reloads the icons.
func (r *Request) RefreshIcons() { r.addRefresh(refresh{Type: "reloadIcon"}) }

// RefreshTags reloads the tags.
func (r *Request) RefreshTags() { r.addRefresh(refresh{Type: "reloadTag"}) }

func (r *Request) addRefresh(f refresh) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.refreshes, f) {
		return
	}
	r.refreshes = append(r.refreshes, f)
}

// finish sends the refreshes and adds what the call recorded to its result.
func (r *Request) finish(ctx context.Context, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return raw
	}
	if len(r.refreshes) > 0 {
		type failure struct {
			refresh
			Message string `json:"message"`
		}
		report := struct {
			Applied        bool      `json:"applied"`
			Operations     []refresh `json:"operations"`
			PartialFailure []failure `json:"partialFailure,omitempty"`
		}{Applied: true, Operations: r.refreshes}
		for _, f := range r.refreshes {
			if err := r.sendRefresh(ctx, f); err != nil {
				report.PartialFailure = append(report.PartialFailure, failure{f, err.Error()})
			}
		}
		if len(report.PartialFailure) > 0 || r.Meta.Verbose {
			raw = withMember(raw, "uiRefresh", report)
		}
	}
	if r.filtered > 0 {
		const reason = "permission_filtered"
		raw = withMember(raw, "partial", true)
		raw = withMember(raw, "filteredOutCount", r.filtered)
		raw = withMember(raw, "reason", reason)
		raw = withMember(raw, "permissionSummary", map[string]any{
			"filteredOutCount": r.filtered, "reason": reason,
			"suggestion": "some of what was found is in notebooks that may not be read",
		})
	}
	return raw
}

func (r *Request) sendRefresh(ctx context.Context, f refresh) error {
	switch f.Type {
	case "reloadProtyle":
		return r.Kernel.ReloadDocument(ctx, f.ID)
	case "reloadAttributeView":
		return r.Kernel.ReloadDatabase(ctx, f.ID)
	case "reloadIcon":
		return r.Kernel.ReloadIcons(ctx)
	case "reloadTag":
		return r.Kernel.ReloadTags(ctx)
	}
	return r.Kernel.ReloadTree(ctx)
}

// withMember sets a member of an object. A new one is appended without searching the others.
func withMember(raw json.RawMessage, name string, value any) json.RawMessage {
	member, err := Encode(value)
	if err != nil {
		panic("action: a result does not take " + name + ": " + err.Error())
	}
	key := Quote(name)
	if !bytes.Contains(raw, key) {
		end := raw[:len(raw)-len("}")]
		if len(end) > len("{") {
			end = append(end, ',')
		}
		return append(append(append(append(end, key...), ':'), member...), '}')
	}
	out, err := sjson.SetRawBytes(raw, name, member)
	if err != nil {
		panic("action: a result does not take " + name + ": " + err.Error())
	}
	return out
}
