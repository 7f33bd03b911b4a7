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

// What several tools need for arguments, ids and errors.

// Text is the first text at a path of the arguments, see [Request.Strings]; empty where there is none.
func (r *Request) Text(path string) string {
	for _, text := range r.Strings(path) {
		return text
	}
	return ""
}

// Icon is an icon that an argument has, as the kernel stores it: the code points of an emoji.
func (r *Request) Icon(param, text string) (string, error) {
	code, err := kernel.Icon(text)
	if err != nil {
		return "", r.Invalid(param, err.Error())
	}
	return code, nil
}

// VisibleIDs are the notebooks that may be read.
func (r *Request) VisibleIDs(ctx context.Context) ([]kernel.ID, error) {
	visible, err := r.Levels.Visible(ctx)
	ids := make([]kernel.ID, len(visible))
	for i := range visible {
		ids[i] = visible[i].ID
	}
	return ids, err
}

// SetArg is args with an argument, given as JSON. What is not an object stays as it is, for the validation to name.
func SetArg(args json.RawMessage, name, raw string) json.RawMessage {
	out, err := sjson.SetRawBytes(args, name, []byte(raw))
	if err != nil {
		return args
	}
	return out
}

// DropArgs is args without some arguments. What is not an object stays as it is, for the validation to name.
func DropArgs(args json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if out, err := sjson.DeleteBytes(args, name); err == nil {
			args = out
		}
	}
	return args
}

// Distinct is a list without what came before in it; never nil.
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

// Removed is an error that came after some things had been removed, and says which.
func Removed[T any](err error, gone []T) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || len(gone) == 0 {
		return err
	}
	out := *e
	out.Facts = map[string]any{"partial": true, "removed": gone}
	maps.Copy(out.Facts, e.Facts)
	return &out
}
