package siyuan

import "collie/internal/source/siyuan/action"

// ProfileNames are the views of the tools that need no settings, sorted.
func ProfileNames() []string { return []string{"core", "full", "minimal"} }

// Profiles are the views of the tools that need no settings: what each hides, as
// "tool" or "tool/action". Other tools are not touched by them.
//
//	minimal   human paths and search by words
//	core      the common actions of each tool
//	full      all
func (s *Source) Profiles() map[string][]string {
	return map[string][]string{
		"minimal": s.hidden(func(a *action.Action) bool { return a.Tool == "fs" || a.Tool == "search" && a.Name == "fulltext" }),
		"core":    s.hidden(func(a *action.Action) bool { return a.Common }),
		"full":    nil,
	}
}

// hidden are the actions that a profile does not show.
func (s *Source) hidden(shows func(*action.Action) bool) []string {
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
