// Package soften is the stage that makes results of some errors, since a few clients send their
// whole tool list again after an error. A Source says whether it wants that ([tool.Offer.Softens]).
// The stage stands before those that keep a record of the call, which see the error.
package soften

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"collie/internal/tool"
)

// Stage is the stage. The zero value is ready.
type Stage struct{}

var _ tool.Stage = Stage{}

// Enter lets everything pass.
func (Stage) Enter(ctx context.Context, _ *tool.Call) (context.Context, error) { return ctx, nil }

// Leave makes a result of an error that the caller of an action can mend. People at a terminal get
// errors as they are, since an exit code hangs on them; a request that means nothing stays an error
// too.
func (Stage) Leave(_ context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	if err == nil || c.Kind != tool.KindCall || c.Origin == tool.Direct || c.Source == nil || !c.Source.Offer().Softens {
		return r, err
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || !mendable(e.Kind) {
		return r, err
	}
	soft := *e
	soft.Facts = map[string]any{"softened": true}
	maps.Copy(soft.Facts, e.Facts)
	payload := soft.Payload()
	raw, failed := json.Marshal(result{[]text{{"text", string(payload)}}, payload})
	if failed != nil {
		return r, err
	}
	return tool.Result{Raw: raw}, nil
}

// result is an MCP tool result, with the error as text and as structured content.
type result struct {
	Content    []text          `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// mendable reports whether a caller can mend errors of a kind.
func mendable(kind tool.ErrorKind) bool {
	switch kind.Class() { //nolint:exhaustive // most cannot be mended
	case tool.Invalid, tool.Conflicting, tool.Ambiguous, tool.Unknown, tool.Disabled:
		return true
	}
	return false
}
