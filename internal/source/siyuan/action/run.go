package action

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Check refuses arguments that could not be decoded, resolves every target of every Need and checks its level. It
// writes nothing.
func (r *Request) Check(ctx context.Context) error {
	if r.decodeErr != nil {
		return r.decodeErr
	}
	for i, n := range r.Action.Needs {
		if n.Targets == nil {
			if err := r.Levels.Everywhere(ctx, n.Level); err != nil {
				return err
			}
			continue
		}
		targets, err := n.Targets(ctx, r)
		if err != nil {
			return err
		}
		if p := r.Action.Param(n.Param); p != nil && p.Required && targets == nil && len(r.Strings(n.Param)) == 0 && (p.Type == "string" || p.Type == "array") {
			return r.Invalid(n.Param, "is empty")
		}
		for _, t := range targets {
			if err := r.checkLevel(t, n.Level); err != nil {
				return err
			}
		}
		r.targets[i] = targets
	}
	return nil
}

// CheckAgain repeats [Request.Check] for a call that has waited, since its targets may have changed or moved.
func (r *Request) CheckAgain(ctx context.Context) error {
	r.mu.Lock()
	r.places = map[kernel.ID]Target{}
	r.targets = make([][]Target, len(r.Action.Needs))
	r.mu.Unlock()
	return r.Check(ctx)
}

// checkLevel checks a level on all notebooks of a target.
func (r *Request) checkLevel(t Target, need access.Level) error {
	for _, notebook := range append([]kernel.ID{t.Notebook}, t.Also...) {
		if err := r.Levels.Check(notebook, need, t.What, t.Subject); err != nil {
			return err
		}
	}
	return nil
}

// Run runs the action and returns its result as JSON, extended by what the call recorded: what was filtered, and
// whether the refreshes succeeded. The targets must have been checked.
func (r *Request) Run(ctx context.Context) (json.RawMessage, error) {
	value, err := r.Action.run(ctx, r, r.args)
	if err != nil {
		return nil, err
	}
	raw, err := Encode(value)
	if err != nil {
		return nil, &tool.Error{Op: "run", Kind: tool.Internal, Subject: r.Action.Tool + "." + r.Action.Name, Err: err}
	}
	return r.finish(ctx, raw), nil
}

// Encode returns v as JSON without escaping <, > and &: Markdown has many of them, and each escape costs a model
// tokens.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// HighestLevel returns the highest level that the action needs.
func (a *Action) HighestLevel() access.Level {
	levels := []access.Level{access.None}
	for _, n := range a.Needs {
		levels = append(levels, n.Level)
	}
	return slices.Max(levels)
}
