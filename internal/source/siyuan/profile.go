package siyuan

import "collie/internal/source/siyuan/action"

// ProfileNames returns the names of the built-in profiles of the tools, sorted.
func ProfileNames() []string { return []string{"core", "full", "minimal"} }

// Profiles returns the built-in profiles of the tools: what each hides, as "tool" or "tool/action". They do not
// affect other tools.
//
//	minimal   human paths and search by words
//	core      the common actions of each tool
//	full      all
func (s *Source) Profiles() map[string][]string {
	return map[string][]string{
		"minimal": s.hiddenActions(func(a *action.Action) bool { return a.Tool == "fs" || a.Tool == "search" && a.Name == "fulltext" }),
		"core":    s.hiddenActions(func(a *action.Action) bool { return a.Common }),
		"full":    nil,
	}
}

// hiddenActions returns the actions that a profile does not show.
func (s *Source) hiddenActions(shows func(*action.Action) bool) []string {
	var out []string
	for _, t := range s.tools {
		for _, a := range t.Actions {
			if !shows(a) {
				out = append(out, t.Name+"/"+a.Name)
			}
		}
	}
	return out
}
