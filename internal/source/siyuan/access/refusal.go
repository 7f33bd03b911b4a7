package access

import (
	"fmt"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// What is the kind of thing that a caller named.
type What string

// The kinds of thing.
const (
	Block    What = "block"
	Document What = "document"
	Notebook What = "notebook"
	Database What = "database"
	Path     What = "path"
	Asset    What = "asset"
	Template What = "template"
	Card     What = "card"
	Deck     What = "deck"
	Tag      What = "tag"
	History  What = "history"
)

var notFoundCodes = map[What]string{
	Block: kernel.CodeBlockNotFound, Document: kernel.CodeDocumentNotFound, Notebook: kernel.CodeNotebookNotFound,
	Database: kernel.CodeDatabaseNotFound,
}

var notFoundHints = map[What]string{
	Block:    `search(action="fulltext") finds blocks by their text`,
	Document: `document(action="lookup") and fs(action="ls") find documents`,
	Notebook: `notebook(action="list") shows the notebooks`,
	Database: `av(action="search") finds databases`,
	Path:     `fs(action="ls", path="/") shows what there is`,
}

// NotFound is the error for a thing that does not exist, or that the caller must not know of:
// the two are the same to the byte (R-6-2). subject is what the caller wrote.
func NotFound(what What, subject string) *tool.Error {
	return &tool.Error{
		Op: "find", Kind: tool.Unknown, Code: notFoundCodes[what], Subject: subject,
		Message: fmt.Sprintf("there is no %s %q", what, subject), Hint: notFoundHints[what],
	}
}

// Denied is the error for a notebook whose level is too low.
func Denied(notebook kernel.ID, have, need Level) *tool.Error {
	return &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: string(notebook),
		Message: fmt.Sprintf("notebook %s allows %s, this needs %s", notebook, have, need),
		Hint:    fmt.Sprintf("a person can allow it: collie siyuan permission set %s %s", notebook, need),
		Facts: map[string]any{
			"notebook": notebook, "current_permission": have.String(), "required_permission": need.Verb(),
		},
	}
}
