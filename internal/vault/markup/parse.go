package markup

import (
	"strings"

	"collie/internal/vault/tree"
)

// This file parses Markdown into blocks.

// Parse splits Markdown with attribute lists into blocks. A block has an id only if a list gives it one; Attrs may be
// nil. Empty text gives no blocks. The attribute list of a whole document (type="doc") is left out. Text that lute
// cannot read, or that is nested too deep, becomes paragraphs: nothing is lost.
func Parse(markdown string) []*tree.Block {
	markdown = insertStandIns(shieldMath(widenTables(cleanText(markdown))))
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	if isTooDeep(markdown) {
		return plainParagraphs(markdown)
	}
	var blocks []*tree.Block
	for _, piece := range splitMarkdown(markdown, pieceSize) {
		blocks = append(blocks, parsePiece(piece)...)
	}
	return blocks
}

// parsePiece parses one part of a text.
func parsePiece(markdown string) (blocks []*tree.Block) {
	t := parseTree(markdown)
	if t == nil {
		return plainParagraphs(markdown)
	}
	c := converter{sourceAttrs: attrListsByID(markdown)}
	if catchPanic(func() { blocks = c.children(t.Root, 0) }) != nil {
		return plainParagraphs(markdown)
	}
	return blocks
}

// caretChar is the character that lute takes for the cursor. In a note it is an ordinary character, so lute gets
// caretStandIn instead.
const (
	caretChar    = "\u2038"
	caretStandIn = "\uFDD7"
)

var cleaner = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd", "\u200b", "",
	caretStandIn, "\ufffd", bracketStandIn, "\ufffd", closingStandIn, "\ufffd", blankStandIn, "\ufffd", dollarStandIn, "\ufffd",
	braceStandIn, "\ufffd", tagStandIn, "\ufffd", emptyStandIn, "\ufffd")

// cleanText returns text as the parser expects it: lines that end in \n, valid UTF-8, none of the stand-ins, and no
// zero-width spaces, which SiYuan adds around marks and removes again.
func cleanText(text string) string {
	return cleaner.Replace(strings.ToValidUTF8(text, "\ufffd"))
}

// removeStandIns replaces the stand-ins by the characters that they stand for.
func removeStandIns(text string) string {
	if !strings.Contains(text, standInLead) {
		return text
	}
	return restorer.Replace(text)
}

// cleanNode is like [cleanText] for text that lute does not parse as Markdown.
func cleanNode(text string) string {
	return strings.ReplaceAll(cleanText(text), caretChar, caretStandIn)
}

// restoreDOM is like [removeStandIns] for a DOM, in which < is a character reference.
func restoreDOM(dom string) string {
	return removeStandIns(strings.ReplaceAll(dom, tagStandIn, "&lt;"))
}

// standInLead has the bytes with which all stand-ins begin.
const standInLead = "\xef\xb7"

var restorer = strings.NewReplacer(caretStandIn, caretChar, bracketStandIn, "(", closingStandIn, ")", blankStandIn, " ", dollarStandIn, "$", braceStandIn, "{", tagStandIn, "<", emptyStandIn, "")

// plainParagraphs is like Parse for text that lute cannot or must not parse. The text between blank lines becomes
// paragraphs, with the attribute lists below them.
func plainParagraphs(markdown string) []*tree.Block {
	var found []*tree.Block
	for part := range strings.SplitSeq(markdown, "\n\n") {
		text := strings.Trim(part, "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		b := &tree.Block{Kind: tree.Paragraph, Text: removeStandIns(text)}
		if body, list := cutIAL(text); list != "" {
			b.Attrs = tree.ParseIAL(list)
			if b.Attrs["type"] == "doc" {
				continue
			}
			b.Text, b.ID = removeStandIns(body), b.Attrs["id"]
		}
		found = append(found, b)
	}
	return found
}

// cutIAL removes an attribute list from the end of a text.
func cutIAL(text string) (body, list string) {
	at := strings.LastIndexByte(text, '\n') + 1
	last := strings.TrimSpace(text[at:])
	if !strings.HasPrefix(last, "{: ") || !strings.HasSuffix(last, "}") {
		return text, ""
	}
	return strings.TrimSuffix(text[:at], "\n"), last
}
