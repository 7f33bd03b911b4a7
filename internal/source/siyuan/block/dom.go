package block

import (
	"context"
	"strings"
	"unicode/utf8"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// mostDOM bounds the DOM that is returned, in bytes.
const mostDOM = 64 << 10

type domResult struct {
	ID         kernel.ID `json:"id" about:"the block"`
	DOM        string    `json:"dom" about:"its DOM"`
	Truncated  bool      `json:"truncated" about:"whether it was cut"`
	TotalBytes int       `json:"totalBytes,omitempty" about:"length before the cut"`
	Hint       string    `json:"hint,omitempty" about:"how to read the rest"`
}

func dom() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "dom",
		Purpose:    "Read a block in the editor's own form (DOM), at most 64 KiB",
		Guide:      "For text get_kramdown is shorter. A longer DOM is cut after a whole block.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockDOM", "query/sql"},
		Positional: []string{"id"},
		Result:     domResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		whole, err := r.Kernel.DOM(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if whole == "" {
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		if whole, err = content.Unbound(ctx, r, whole); err != nil {
			return nil, err
		}
		out := domResult{ID: a.ID, DOM: cutDOM(whole, mostDOM)}
		if len(out.DOM) != len(whole) {
			out.Truncated, out.TotalBytes = true, len(whole)
			out.Hint = `block(action="get_children", id="` + string(a.ID) + `") lists its blocks, whose DOM can be read one by one`
		}
		return out, nil
	})
}

// cutDOM cuts a DOM to at most limit bytes: after the last block that fits, with what is open
// closed, or within the first block's text if that alone is too long.
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
