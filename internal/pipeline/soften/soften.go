// Package soften is the stage that turns some errors into results, because a few clients send their whole tool
// list again after an error. A Source requests that with [tool.Offer.Softens]. The stage is outside of those
// that record the call, so they still see the error.
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

// Leave turns an error into a result if the caller of an action can correct it. People at a terminal get the
// error itself, because the exit code depends on it. A request for which no
// source was found also stays an error.
func (Stage) Leave(_ context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	if err == nil || c.Kind != tool.KindCall || c.Origin == tool.Direct || c.Source == nil || !c.Source.Offer().Softens {
		return r, err
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || !isCorrectable(e.Kind) {
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

// result is an MCP tool result with the error as text and as structured content.
type result struct {
	Content    []text          `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// isCorrectable reports whether a caller can correct errors of this kind.
func isCorrectable(kind tool.ErrorKind) bool {
	switch kind.Class() { //nolint:exhaustive // most kinds cannot be corrected
	case tool.Invalid, tool.Conflicting, tool.Ambiguous, tool.NotFound, tool.Disabled:
		return true
	}
	return false
}
