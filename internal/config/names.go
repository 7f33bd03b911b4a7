package config

import "slices"

// reserved are names that no server may have.
var reserved = []string{"collie", "siyuan"}

// notesTools are the tools whose names are ours, and tell nothing about who uses them.
var notesTools = []string{
	"fs", "notebook", "document", "block", "av", "file", "search", "tag", "system", "flashcard", "mascot", "timeline",
}

// NotesTools are the names of the tools for notes in their order.
func NotesTools() []string { return slices.Clone(notesTools) }

// ReservedNames are all names in lower case that no server may have: ours, and those of the tools for
// notes where these are on. What is asked of such a tool has notes in it, and whoever calls fs means no
// other.
func (c *Config) ReservedNames() []string {
	if !c.SiYuan.Enabled {
		return slices.Clone(reserved)
	}
	return slices.Concat(reserved, notesTools)
}
