package access

import (
	"fmt"
	"strings"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the errors for what is missing, hidden or not allowed, which must not reveal what is hidden.

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
	Asset:    `search(action="search_assets", query="…") finds assets by their names`,
	Deck:     `flashcard(action="get_decks") shows the decks and their ids`,
	Card:     `flashcard(action="list_cards", scope="all") shows cards with their decks and ids`,
}

// NotFound returns the error for a thing that does not exist, or that is hidden from the caller: the two errors are
// equal byte for byte. subject is what the caller wrote, and message and hint depend on nothing but what and subject.
func NotFound(what What, subject string) *tool.Error {
	hint := notFoundHints[what]
	if otherHint := otherKindHint(what, subject); otherHint != "" {
		hint = otherHint + "; " + hint
	}
	return &tool.Error{
		Op: "find", Kind: tool.NotFound, Code: notFoundCodes[what], Subject: subject,
		Message: fmt.Sprintf("there is no %s %q", what, subject), Hint: hint,
	}
}

// otherKindHint returns a hint if subject looks like another kind of thing than what was asked for; empty if not.
func otherKindHint(what What, subject string) string {
	switch what {
	case Path:
		name := strings.Trim(subject, "/")
		switch {
		case kernel.ID(name).Valid():
			return fmt.Sprintf("this is an id, and paths are made of names; document(action=\"get_doc\", id=%q) reads one by its id", name)
		case strings.Contains(subject, `\`):
			return `names in a path are parted by /, as in /Notebook/Document`
		}
	case Notebook, Document, Block, Database:
		switch {
		case strings.Contains(subject, "/") && what == Document: // some actions also accept paths of documents
			return `fs(action="read") reads by human paths such as /Notebook/Document`
		case strings.Contains(subject, "/"):
			return "an id is wanted here, and this is a path"
		case !kernel.ID(subject).Valid():
			return "an id is wanted here, such as 20210808180117-czj9bvb"
		}
	case Asset, Template, Card, Deck, Tag, History:
	}
	return ""
}

// heldByProfile is the hint for a [Ceiling] lower than the needed level.
const heldByProfile = "the profile of this client allows no more; a person can change its notebooks in the settings"

// levelTooLowError returns the error for a notebook whose level is too low. name is the notebook's name, empty if unknown.
func levelTooLowError(notebook kernel.ID, name string, have, need Level, hint string) *tool.Error {
	which := string(notebook)
	if name != "" {
		which = fmt.Sprintf("%q (%s)", name, notebook)
	}
	return &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: string(notebook),
		Message: fmt.Sprintf("notebook %s allows %s, this needs %s", which, have, need),
		Hint:    hint,
		Facts: map[string]any{
			"notebook": notebook, "current_permission": have.String(), "required_permission": need.Verb(),
		},
	}
}
