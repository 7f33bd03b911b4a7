package edit

import (
	"strings"
	"unicode"

	"collie/internal/vault/tree"
)

// MaxTitle is the limit for the title of a document and the name of a notebook, in characters.
const MaxTitle = 512

// Rename sets the title of a document, which [CleanTitle] cleans. The page of a notebook renames the notebook too. The
// caller has checked the length of the title and saves the document.
func Rename(d *tree.Document, title string) {
	title = CleanTitle(title)
	d.Root.Attrs["title"] = title
	delete(d.Root.Attrs, "title-empty")
	if d.Hidden() {
		d.Box.Conf.Name = title
	}
}

// CleanTitle returns a title in the form in which it is stored, Untitled for an empty one.
func CleanTitle(title string) string {
	if title = VisibleText(strings.ReplaceAll(title, "/", "")); title == "" {
		return "Untitled"
	}
	return title
}

// VisibleText removes invisible characters from a text, except the one that joins emoji.
func VisibleText(text string) string {
	return strings.Map(func(c rune) rune {
		const joiner, hardSpace = '\u200d', '\u00a0'
		switch {
		case c == hardSpace:
			return ' '
		case c != joiner && !unicode.IsGraphic(c):
			return -1
		}
		return c
	}, text)
}
