package block

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool block that read blocks: as kramdown, as DOM, their attributes and their children.

type kramdownResult struct {
	ID        kernel.ID `json:"id" about:"the block"`
	Kramdown  string    `json:"kramdown" about:"its text; {: id=\"…\"} lines hold ids and attributes"`
	StateHash string    `json:"stateHash" about:"for ifMatch of a later write"`
}

// getKramdown returns the action get_kramdown of the tool block.
func getKramdown() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_kramdown",
		Purpose: "Read a block or document as Markdown with ids and attributes",
		Guide:   "Give stateHash back as ifMatch to be refused if somebody changed the block meanwhile.",
		Common:  true,
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockKramdown", "query/sql"},
		Positional: []string{"id"},
		Result:     kramdownResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		text, err := r.Kernel.Kramdown(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if text == "" { // the kernel also returns this for a missing id
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		hash := content.StateHash(content.Saved{ID: a.ID, Kramdown: text})
		text, err = content.Redact(ctx, r, content.Clean(text))
		return kramdownResult{a.ID, text, hash}, err
	})
}

type batchKramdownArgs struct {
	IDs  []string `json:"ids" about:"blocks or documents, in the order of the answer" req:"true" min:"1" max:"20"`
	Mode string   `json:"mode" about:"md, or textmark: inline styles as span elements" enum:"md,textmark" default:"md"`
}

type batchItem struct {
	ID        string     `json:"id" about:"as it was asked for"`
	OK        bool       `json:"ok" about:"whether it was read"`
	Kramdown  string     `json:"kramdown,omitempty" about:"its text with ids and attributes"`
	StateHash string     `json:"stateHash,omitempty" about:"for ifMatch of a later write (mode md)"`
	Error     *itemError `json:"error,omitempty" about:"type, code, message and hint where it was not read"`
}

type itemError struct {
	Type    tool.ErrorKind `json:"type"`
	Code    string         `json:"code,omitempty"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
}

type batchResult struct {
	Items     []batchItem `json:"items"`
	Requested int         `json:"requested" about:"ids that were given"`
	Succeeded int         `json:"succeeded" about:"of them read"`
	Failed    int         `json:"failed" about:"of them not read"`
	Partial   bool        `json:"partial" about:"whether any failed"`
}

// batchKramdown returns the action batch_kramdown of the tool block.
func batchKramdown() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "batch_kramdown",
		Purpose: "Read up to 20 blocks as Markdown with ids and attributes",
		Guide:   "One that cannot be read fails alone. Order and duplicates of ids are kept.",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded:  "the level is checked for each id by itself, so that one fails alone",
		Endpoints:  []string{"block/getBlockKramdowns", "query/sql"},
		Positional: []string{"ids"},
		Result:     batchResult{},
		Example:    `{"ids":["20260102030405-abcdefg"]}`,
	}, runBatchKramdown)
}

func runBatchKramdown(ctx context.Context, r *action.Request, a batchKramdownArgs) (any, error) {
	ids := make([]kernel.ID, 0, len(a.IDs))
	for _, id := range a.IDs {
		ids = append(ids, kernel.ID(id))
	}
	places, err := r.Places(ctx, ids)
	if err != nil {
		return nil, err
	}
	refused := map[kernel.ID]error{}
	var readable []kernel.ID
	for _, id := range ids {
		t, found := places[id]
		switch {
		case !found:
			refused[id] = access.NotFound(access.Block, string(id))
		default:
			if err := r.Levels.Check(t.Notebook, access.Read, access.Block, string(id)); err != nil {
				refused[id] = err
			} else {
				readable = append(readable, id)
			}
		}
	}
	texts, err := r.Kernel.Kramdowns(ctx, action.Distinct(readable), a.Mode)
	if err != nil {
		return nil, err
	}
	out := batchResult{Items: make([]batchItem, len(ids)), Requested: len(ids)}
	for i, id := range ids {
		item := &out.Items[i]
		item.ID = a.IDs[i]
		text, read := texts[id]
		err := refused[id]
		if err == nil && (!read || text == "") {
			err = access.NotFound(access.Block, string(id))
		}
		if err != nil {
			item.Error = itemErrorOf(err)
			out.Failed++
			continue
		}
		item.OK = true
		if item.Kramdown, err = content.Redact(ctx, r, content.Clean(text)); err != nil {
			return nil, err
		}
		if a.Mode == "md" {
			item.StateHash = content.StateHash(content.Saved{ID: id, Kramdown: text})
		}
		out.Succeeded++
	}
	out.Partial = out.Failed > 0
	return out, nil
}

func itemErrorOf(err error) *itemError {
	out := &itemError{Type: tool.KindOf(err), Message: err.Error()}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		out.Code, out.Message, out.Hint = e.Code, e.Message, e.Hint
	}
	return out
}

// maxDOM bounds the DOM that is returned, in bytes.
const maxDOM = 64 << 10

type domResult struct {
	ID         kernel.ID `json:"id" about:"the block"`
	DOM        string    `json:"dom" about:"its DOM"`
	Truncated  bool      `json:"truncated" about:"whether it was cut"`
	TotalBytes int       `json:"totalBytes,omitempty" about:"length before the cut"`
	Hint       string    `json:"hint,omitempty" about:"how to read the rest"`
}

// dom returns the action dom of the tool block.
func dom() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "dom",
		Purpose: "Read a block in the editor's own form (DOM), at most 64 KiB",
		Guide:   "For text get_kramdown is shorter. A longer DOM is cut after a whole block.",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockDOM", "query/sql"},
		Positional: []string{"id"},
		Result:     domResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		full, err := r.Kernel.DOM(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if full == "" {
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		if full, err = content.Redact(ctx, r, full); err != nil {
			return nil, err
		}
		out := domResult{ID: a.ID, DOM: cutDOM(full, maxDOM)}
		if len(out.DOM) != len(full) {
			out.Truncated, out.TotalBytes = true, len(full)
			out.Hint = `block(action="get_children", id="` + string(a.ID) + `") lists its blocks, whose DOM can be read one by one`
		}
		return out, nil
	})
}

// cutDOM shortens a DOM to at most limit bytes: after the last block that fits, with open tags closed, or within the
// text of the first block if that alone is too long.
func cutDOM(dom string, limit int) string {
	if len(dom) <= limit {
		return dom
	}
	const tail = "</div>"
	var end, open int
	var walk func([]kernel.DOMBlock)
	walk = func(blocks []kernel.DOMBlock) {
		for _, b := range blocks {
			if b.End+b.Open*len(tail) <= limit && b.End > end {
				end, open = b.End, b.Open
			}
			if b.Start < limit {
				walk(b.Blocks)
			}
		}
	}
	walk(kernel.ParseDOM(dom))
	if end > 0 {
		return dom[:end] + strings.Repeat(tail, open)
	}
	for limit > 0 && !utf8.RuneStart(dom[limit]) {
		limit--
	}
	cut := dom[:limit]
	if tag := strings.LastIndexByte(cut, '<'); tag > strings.LastIndexByte(cut, '>') {
		cut = cut[:tag]
	}
	return cut
}

type idArgs struct {
	ID kernel.ID `json:"id" about:"block or document" req:"true"`
}

// getAttrsResult describes the result, a map.
type getAttrsResult struct {
	Any string `json:"*" about:"each attribute by its name: name, alias, memo, bookmark, custom-…"`
}

// getAttrs returns the action get_attrs of the tool block.
func getAttrs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_attrs",
		Purpose: "Read the attributes of a block or document",
		Guide:   "Databases that the block is a row of are left out where some notebook may not be read.",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs: []action.Need{action.OnBlock(access.Read, "id")},

		Endpoints:  []string{"attr/getBlockAttrs"},
		Positional: []string{"id"},
		Result:     getAttrsResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		attrs, err := r.Kernel.Attrs(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if len(attrs) == 0 { // every block has at least an id, so it was deleted meanwhile
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		return attrs, content.RedactAttrs(ctx, r, attrs)
	})
}

type childrenArgs struct {
	ID       kernel.ID `json:"id" about:"block or document" req:"true"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"blocks a page" default:"50" min:"1" max:"200"`
}

type childrenResult struct {
	action.Page[kernel.Block]
	Hint string `json:"hint,omitempty" about:"how to go on"`
}

// getChildren returns the action get_children of the tool block.
func getChildren() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_children",
		Purpose: "List the blocks right below a document or block",
		Guide:   "Below a heading stands its section, down to the next heading of its level. A leaf has no children.",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "query/sql"},
		Positional: []string{"id"},
		Result:     childrenResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a childrenArgs) (any, error) {
		all, err := r.Kernel.ChildBlocks(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if err := content.RedactBlocks(ctx, r, all); err != nil {
			return nil, err
		}
		for i := range all {
			all[i].Content, all[i].Markdown = content.Clean(all[i].Content), content.Clean(all[i].Markdown)
		}
		out := childrenResult{Page: action.Paged(all, a.Page, a.PageSize)}
		if out.HasNextPage {
			out.Hint = "more with a higher page"
		}
		return out, nil
	})
}
