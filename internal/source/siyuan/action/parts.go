package action

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Parts that several tools use for arguments, ids and errors.

// Text returns the first text at a path of the arguments (see [Request.Strings]); empty if there is none.
func (r *Request) Text(path string) string {
	for _, text := range r.Strings(path) {
		return text
	}
	return ""
}

// Icon returns an icon given as an argument in the form that the kernel stores: the code points of an emoji.
func (r *Request) Icon(param, text string) (string, error) {
	code, err := kernel.Icon(text)
	if err != nil {
		return "", r.Invalid(param, err.Error())
	}
	return code, nil
}

// VisibleNotebookIDs returns the notebooks that may be read.
func (r *Request) VisibleNotebookIDs(ctx context.Context) ([]kernel.ID, error) {
	visible, err := r.Levels.Visible(ctx)
	ids := make([]kernel.ID, len(visible))
	for i := range visible {
		ids[i] = visible[i].ID
	}
	return ids, err
}

// SetArg returns args with one argument set to a JSON value. If args is not an object it stays as it is, for the
// validation to report.
func SetArg(args json.RawMessage, name, raw string) json.RawMessage {
	out, err := sjson.SetRawBytes(args, name, []byte(raw))
	if err != nil {
		return args
	}
	return out
}

// DropArgs returns args without some arguments. If args is not an object it stays as it is, for the validation to
// report.
func DropArgs(args json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if out, err := sjson.DeleteBytes(args, name); err == nil {
			args = out
		}
	}
	return args
}

// Distinct returns list without duplicates; never nil.
func Distinct[T comparable](list []T) []T {
	out, seen := make([]T, 0, len(list)), map[T]bool{}
	for _, one := range list {
		if !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}

// AddRemoved adds to an error which things had been removed before it.
func AddRemoved[T any](err error, removed []T) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || len(removed) == 0 {
		return err
	}
	out := *e
	out.Facts = map[string]any{"partial": true, "removed": removed}
	maps.Copy(out.Facts, e.Facts)
	return &out
}
