package siyuan

import (
	"encoding/json"

	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// mcpResult returns the MCP result of a run: the JSON as text and as structured content.
func (s *Source) mcpResult(r *action.Request, raw json.RawMessage) tool.Result {
	var out *action.Members
	if r.Config.Slim && !r.Meta.Verbose {
		out = r.Action.Verbose()
	}
	c := buildResult(raw, out)
	if c.size() > s.opts.MaxResult {
		c = buildResult(capResult(c.appendKept(nil), s.opts.MaxResult), nil)
	}
	return c.result()
}
