package upstream

import (
	"errors"
	"path"

	"collie/internal/mcp"
)

// switchedOff says why the entry's tools setting leaves a tool out; empty if it does not.
// An exclude wins over an include, an override over both.
func (s *Server) switchedOff(name string) string {
	if why := s.withheld(name); why != "" {
		return why
	}
	t := &s.settings().Tools
	if o, ok := t.Override[name]; ok && o.Enabled != nil {
		if *o.Enabled {
			return ""
		}
		return "tools.override of " + s.name + " switches it off"
	}
	if anyMatch(t.Exclude, name) {
		return "tools.exclude of " + s.name + " leaves it out"
	}
	if len(t.Include) > 0 && !anyMatch(t.Include, name) {
		return "tools.include of " + s.name + " does not name it"
	}
	return ""
}

func anyMatch(globs []string, name string) bool {
	for _, g := range globs {
		if ok, err := path.Match(g, name); ok && err == nil {
			return true
		}
	}
	return false
}

// isMethodNotFound reports whether a server said that it does not know a method.
func isMethodNotFound(err error) bool {
	e, ok := errors.AsType[*mcp.RPCError](err)
	return ok && e.Code() == mcp.CodeMethodNotFound
}
