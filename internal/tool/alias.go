package tool

import (
	"slices"
	"strings"
	"unicode"
)

// sameActions are groups of synonyms. A tool has at most one action of each group.
var sameActions = [][]string{{"ls", "list"}, {"mv", "move"}, {"rm", "remove", "delete", "del"}}

// ActionName returns the action of one of our own tools that name most likely means. "-" equals "_", case is
// ignored, camel case is split (getDoc), and the common words to list, move and remove stand for whichever of
// them the tool has. Without a match it returns name itself.
func ActionName(name string, has func(action string) bool) string {
	plain := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
	if has(plain) {
		return plain
	}
	if words := snake(strings.TrimSpace(name)); has(words) {
		return words
	}
	for _, group := range sameActions {
		if !slices.Contains(group, plain) {
			continue
		}
		if i := slices.IndexFunc(group, has); i >= 0 {
			return group[i]
		}
	}
	return name
}

// snake converts camel case to snake case: setFoldState becomes set_fold_state.
func snake(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
