package content

import (
	"strings"

	"collie/internal/lazyregexp"
)

// This file cuts kramdown into its top-level blocks.

var (
	heading       = lazyregexp.New(`^#{1,6}(?:[ \t]|$)`)
	thematicBreak = lazyregexp.New(`^(?:-[ \t]*){3,}$|^(?:\*[ \t]*){3,}$|^(?:_[ \t]*){3,}$`)
	bulletItem    = lazyregexp.New(`^[-*+](?:[ \t]|$)`)
	orderedItem   = lazyregexp.New(`^\d{1,9}[.)](?:[ \t]|$)`)
	htmlStart     = lazyregexp.New(`^<(?:[A-Za-z!?/])`)
)

// splitTopLevel cuts kramdown into its top-level blocks, as far as needed to see whether one block has become several: the
// kernel uses only the first block of an update.
func splitTopLevel(kramdown string) []string {
	c := blockScanner{lines: strings.Split(kramdown, "\n")}
	var out []string
	for c.at < len(c.lines) {
		if strings.TrimSpace(c.lines[c.at]) == "" {
			c.at++
			continue
		}
		start := c.at
		c.skipBlock()
		for c.at < len(c.lines) && isAttributeLine(c.lines[c.at]) {
			c.at++
		}
		out = append(out, strings.TrimRight(strings.Join(c.lines[start:c.at], "\n"), "\n"))
	}
	return out
}

// blockScanner walks over lines.
type blockScanner struct {
	lines []string
	at    int
}

// skipBlock skips one block. It always advances.
func (c *blockScanner) skipBlock() {
	first := strings.TrimLeft(c.lines[c.at], " \t")
	switch f := fenceOpened(first); {
	case f.isOpen() && runLength(first, f.mark) >= f.count:
		c.skipUntil(f.isClosedBy)
	case strings.HasPrefix(first, "{{{"):
		c.skipSuperBlock()
	case heading.MatchString(first), thematicBreak.MatchString(strings.TrimRight(first, " \t")):
		c.at++
	case first[0] == '>':
		c.skipWhile(func(text string) bool { return text != "" && (text[0] == '>' || !endsParagraph(text)) })
	case bulletItem.MatchString(first):
		c.skipList(bulletItem)
	case orderedItem.MatchString(first):
		c.skipList(orderedItem)
	case htmlStart.MatchString(first), strings.HasPrefix(first, "|"):
		c.skipWhile(func(text string) bool { return text != "" && !isAttributeLine(text) })
	default:
		c.skipWhile(func(text string) bool { return text != "" && !endsParagraph(text) })
	}
}

// skipUntil skips lines up to and including the first, after the current one, for which ends is true.
func (c *blockScanner) skipUntil(ends func(string) bool) {
	for c.at++; c.at < len(c.lines); c.at++ {
		if ends(c.lines[c.at]) {
			c.at++
			return
		}
	}
}

// skipWhile skips the current line and those after it while goesOn is true.
func (c *blockScanner) skipWhile(goesOn func(string) bool) {
	for c.at++; c.at < len(c.lines) && goesOn(strings.TrimSpace(c.lines[c.at])); c.at++ {
	}
}

func (c *blockScanner) skipSuperBlock() {
	depth := 0
	for ; c.at < len(c.lines); c.at++ {
		switch text := strings.TrimSpace(c.lines[c.at]); {
		case strings.HasPrefix(text, "{{{"):
			depth++
		case strings.HasPrefix(text, "}}}"):
			if depth--; depth == 0 {
				c.at++
				return
			}
		}
	}
}

// skipList skips items of one kind with what is indented below them, and continuation lines of their paragraphs.
func (c *blockScanner) skipList(marker *lazyregexp.Regexp) {
	blank := false
	in := fenceOpened(c.lines[c.at])
	for c.at++; c.at < len(c.lines); c.at++ {
		text := c.lines[c.at]
		trimmed := strings.TrimSpace(text)
		indented := text != "" && (text[0] == ' ' || text[0] == '\t')
		switch {
		case in.isOpen():
			if in.isClosedBy(text) {
				in = fence{}
			}
			continue
		case trimmed == "":
			blank = true
			continue
		case indented, marker.MatchString(text) && !thematicBreak.MatchString(trimmed):
		case isAttributeLine(text) && !blank:
			return
		case blank || endsParagraph(trimmed):
			return
		}
		blank = false
		in = fenceOpened(text)
	}
}

// endsParagraph reports whether a line ends a paragraph and begins another block.
func endsParagraph(text string) bool {
	switch {
	case isAttributeLine(text), heading.MatchString(text), thematicBreak.MatchString(text), fenceOpened(text).isOpen():
		return true
	case bulletItem.MatchString(text) && len(text) > 1, strings.HasPrefix(text, "1. "):
		return true
	}
	return text != "" && text[0] == '>' || strings.HasPrefix(text, "{{")
}
