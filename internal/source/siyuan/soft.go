package siyuan

import (
	"context"
	"errors"

	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

// soft are the errors that a caller can mend (siyuan-tools.md 8).
var soft = map[tool.ErrorKind]bool{
	tool.Invalid: true, tool.Conflicting: true, tool.InvalidPath: true, tool.Ambiguous: true, tool.Unknown: true, tool.Disabled: true,
}

// call runs an action. Where the tool config wants soft errors, one that the caller can mend is a
// result: some clients send their whole tool list again after an error. People at a terminal get
// errors as they are, since an exit code hangs on them.
func (s *Source) call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	result, err := s.act(ctx, c)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || c.Origin == tool.Direct || !soft[e.Kind] || !s.switches.Last().SoftErrors {
		return result, err
	}
	payload, failed := sjson.SetBytes(e.Payload(), "error.softened", true)
	if failed != nil {
		return result, err
	}
	return asResult(payload), nil
}
