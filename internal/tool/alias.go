package tool

import (
	"slices"
	"strings"
	"unicode"
)

// sameActions are words for actions of which a tool has one.
var sameActions = [][]string{{"ls", "list"}, {"mv", "move"}, {"rm", "remove", "delete", "del"}}

// ActionName is the action of one of our own tools that a caller means by name: "-" stands for
// "_", capitals do not count but where a word begins as in getDoc, and of the common words for
// what lists, moves and removes each stands for the one that the tool has. name itself is
// returned where nothing is known.
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

// snake is a name in camel case with "_" before its words: setFoldState becomes set_fold_state.
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
