package config

import "slices"

// This file lists the names that servers of the user may not have, because tools of our own have them.

// reservedNames are names that no server may have.
var reservedNames = []string{"collie", "siyuan"}

// notesTools are the names of our own tools. They reveal nothing about the user, unlike names of the user's
// servers.
var notesTools = []string{
	"fs", "notebook", "document", "block", "av", "file", "search", "tag", "system", "flashcard", "mascot", "timeline",
}

// NotesTools returns the names of the tools for notes, in their order.
func NotesTools() []string { return slices.Clone(notesTools) }

// ReservedNames returns all names, in lower case, that no server may have: our own and, if the tools for
// notes are on, theirs. A server with such a name would receive calls that are meant for notes.
func (c *Config) ReservedNames() []string {
	if !c.SiYuan.Enabled {
		return slices.Clone(reservedNames)
	}
	return slices.Concat(reservedNames, notesTools)
}
