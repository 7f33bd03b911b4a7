package tool

import "strings"

// Class is a rough classification of what an action does. It is only for display.
type Class string

// The classes.
const (
	ClassRead   Class = "read"
	ClassWrite  Class = "write"
	ClassMove   Class = "move" // renames or moves
	ClassRemove Class = "remove"
)

// moveWords are words in the names of actions that rename or move.
const moveWords = " mv move rename 移动 重命名 "

// Class returns the class of the action. It follows from [Action.Rated] and from words such as "move" in the name.
func (a *Action) Class() Class {
	_, effects := a.Rated()
	switch {
	case effects&EffectDelete != 0:
		return ClassRemove
	case effects&^EffectRead == 0:
		return ClassRead
	case movesByName(a.Name):
		return ClassMove
	}
	return ClassWrite
}

func movesByName(name string) bool {
	for name != "" {
		var word string
		word, name = nextWord(name)
		if word != "" && (strings.Contains(moveWords, " "+strings.ToLower(word)+" ") || hanWord(word, moveWords, false)) {
			return true
		}
	}
	return false
}
