package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"collie/internal/tool"
)

const (
	maxName = 64
	cutName = 55
)

// clean replaces what a tool name may not have.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// suffixed makes name unique by a digest of what it stands for, and short enough.
func suffixed(name, owner, original string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + original))
	return name[:min(len(name), cutName)] + "_" + hex.EncodeToString(sum[:4])
}

// named is something that wants a name: an action or a prompt.
type named struct {
	owner    string // the Tool or server
	prefix   string
	original string
	// fixed names are our own: they keep theirs, and others give way.
	fixed bool
}

// expose gives each of list the name clients see: prefix and original name, cleaned, at
// most 64 characters. Where two would be the same, an empty prefix is given up first, then
// both get a digest of what they stand for. The result depends on list alone, not on its
// order, but for our own names, which always win: those that are reserved even where nobody
// has them.
func expose(list []named, reserved ...string) []string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = short(n.prefix, n)
		if tool, _, _ := strings.Cut(names[i], "__"); slices.Contains(reserved, tool) && n.owner != tool {
			names[i] = short(clean(n.owner)+"__", n)
		}
	}
	for _, i := range clashing(list, names) {
		if list[i].prefix == "" {
			names[i] = short(clean(list[i].owner)+"__", list[i])
		}
	}
	for _, i := range clashing(list, names) {
		names[i] = suffixed(names[i], list[i].owner, list[i].original)
	}
	return names
}

func short(prefix string, n named) string {
	name := clean(prefix + n.original)
	if len(name) > maxName {
		return suffixed(name, n.owner, n.original)
	}
	return name
}

// clashing returns the indices of names that are not unique and not fixed.
func clashing(list []named, names []string) []int {
	count := map[string]int{}
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

// matches reports whether pattern, "tool" or "tool/action" with * as a wildcard, covers an
// action.
func matches(pattern, toolName, action string) bool {
	t, a, ok := strings.Cut(pattern, "/")
	return glob(t, toolName) && (!ok || glob(a, action))
}

// glob matches * against any text.
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

// viewOf is the view a profile shows a Tool in.
func (p *Profile) viewOf(t *tool.Tool) tool.View {
	if p.free(t) {
		return cmp.Or(p.chosen[t.Name], tool.Flat)
	}
	return cmp.Or(p.Views[t.Name], p.View, t.View, p.Default, tool.Flat)
}
