package tool

import "strings"

// Class is a rough word for what an action does to what it is called on. It is for people who watch calls, and decides
// nothing.
type Class string

// The classes.
const (
	ClassRead   Class = "read"
	ClassWrite  Class = "write"
	ClassMove   Class = "move" // changes a name or a place
	ClassRemove Class = "remove"
)

// moveWords are the words in names of actions that change a name or a place.
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
		if word != "" && strings.Contains(moveWords, " "+strings.ToLower(word)+" ") {
			return true
		}
	}
	return false
}
