package block

import (
	"context"
	"errors"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

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

func batchKramdown() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "batch_kramdown",
		Purpose:    "Read up to 20 blocks as Markdown with ids and attributes",
		Guide:      "One that cannot be read fails alone. Order and duplicates of ids are kept.",
		Class:      action.Reads,
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
			} else if _, twice := refused[id]; !twice {
				readable = append(readable, id)
			}
		}
	}
	texts, err := r.Kernel.Kramdowns(ctx, distinct(readable), a.Mode)
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
		if item.Kramdown, err = content.Unbound(ctx, r, content.Clean(text)); err != nil {
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
