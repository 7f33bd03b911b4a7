package source

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/tool"
)

// This file makes the names under which clients see tools and prompts, and matches the patterns of profiles.

// nameRequest is an action or a prompt that needs an exposed name.
type nameRequest struct {
	owner    string // name of the Tool or server
	prefix   string
	original string
	alias    string // the name that a person has given it instead; empty if none
	// fixed is set for our own names: they stay as they are, and others give way.
	fixed bool
}

// exposedNames returns the names that clients see, one for each entry of list: prefix and original name, cleaned, at
// most 64 characters.
//
// If two entries want the same name, those with an empty prefix first get their owner's name as prefix; if names
// still clash, each of them gets a digest as a suffix. Fixed names win and never change, and reserved names stay free
// of others even where nobody has them. The result does not depend on the order of list.
func exposedNames(list []nameRequest, reserved ...string) []string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = prefixedName(n.prefix, n)
		if owner, _, _ := strings.Cut(names[i], "__"); slices.Contains(reserved, owner) && n.owner != owner {
			names[i] = prefixedName(tool.CleanName(n.owner)+"__", n)
		}
	}
	duplicates := duplicateNames(list, names)
	if len(duplicates) == 0 {
		return names
	}
	for _, i := range duplicates {
		if list[i].prefix == "" {
			names[i] = prefixedName(tool.CleanName(list[i].owner)+"__", list[i])
		}
	}
	for _, i := range duplicateNames(list, names) {
		names[i] = tool.DigestName(names[i], list[i].owner, list[i].original)
	}
	return names
}

func prefixedName(prefix string, n nameRequest) string {
	return tool.ListedName(prefix, cmp.Or(n.alias, n.original), n.owner, n.original)
}

// duplicateNames returns the indices of names that are not unique and may change.
func duplicateNames(list []nameRequest, names []string) []int {
	count := make(map[string]int, len(names))
	for _, name := range names {
		count[name]++
	}
	var out []int
	for i, name := range names {
		if count[name] > 1 && !list[i].fixed {
			out = append(out, i)
		}
	}
	return out
}

// matches reports whether a pattern covers an action. A pattern is "tool" or "tool/action", with * as a wildcard.
func matches(pattern, toolName, action string) bool {
	t, a, ok := strings.Cut(pattern, "/")
	return glob(t, toolName) && (!ok || glob(a, action))
}

// glob reports whether s matches pattern, in which * stands for any text.
func glob(pattern, s string) bool {
	head, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for i := len(head); i <= len(s); i++ {
		if glob(rest, s[i:]) {
			return true
		}
	}
	return false
}

// shows reports whether a profile shows an action.
func (p *Profile) shows(t *tool.Tool, action string) bool {
	for _, pattern := range p.Hide {
		if matches(pattern, t.Name, action) {
			return false
		}
	}
	if len(p.Tools) == 0 {
		return true
	}
	for _, pattern := range p.Tools {
		if matches(pattern, t.Name, action) {
			return true
		}
	}
	return false
}

// shown returns the actions of a Tool that a profile shows: the Tool's own slice if it shows all of them, as most
// profiles do. The caller changes nothing in it.
func (p *Profile) shown(t *tool.Tool) []tool.Action {
	var out []tool.Action
	for i := range t.Actions {
		if p.shows(t, t.Actions[i].Name) {
			if out != nil {
				out = append(out, t.Actions[i])
			}
			continue
		}
		if out == nil {
			out = append(make([]tool.Action, 0, len(t.Actions)), t.Actions[:i]...)
		}
	}
	if out == nil {
		return slices.Clip(t.Actions)
	}
	return out
}

// viewOf returns the view in which a profile shows a Tool.
func (p *Profile) viewOf(t *tool.Tool) tool.View {
	if p.isAutoChosen(t) {
		return cmp.Or(p.chosen[t.Name], tool.Flat)
	}
	return cmp.Or(p.Views[t.Name], p.View, t.View, p.Default, tool.Flat)
}
