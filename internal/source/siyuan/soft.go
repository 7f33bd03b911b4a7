package siyuan

import (
	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

// soft are the errors that a caller can mend.
var soft = map[tool.ErrorKind]bool{
	tool.Invalid: true, tool.Conflicting: true, tool.InvalidPath: true, tool.Ambiguous: true, tool.Unknown: true, tool.Disabled: true,
}

// Soften makes results of errors that a caller can mend, where the tool config wants that. People at a terminal get
// errors as they are, since an exit code hangs on them; an action that does not exist stays an error too.
func (s *Source) Soften(c *tool.Call, err *tool.Error) (tool.Result, bool) {
	if c.Kind != tool.KindCall || c.Origin == tool.Direct || !soft[err.Kind] || err.Code == "unknown_action" || !s.switches.Last().SoftErrors {
		return tool.Result{}, false
	}
	payload, failed := sjson.SetBytes(err.Payload(), "error.softened", true)
	if failed != nil {
		return tool.Result{}, false
	}
	return asResult(payload), true
}
