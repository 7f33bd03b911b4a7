package file

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"collie/internal/lazyregexp"
)

// This file finds the addresses in a Markdown text.

// Addresses that a Markdown parser does not find, or not completely.
var (
	// sources matches attributes of HTML elements that refer to a file.
	sources = lazyregexp.New(`(?is)<[a-z][a-z0-9]*\s[^>]*?\b(?:src|href|poster|data|data-src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>` + "`" + `]+))`)
	// spacedAddress matches an address with spaces, which SiYuan writes although Markdown does not allow it.
	spacedAddress = lazyregexp.New(`\]\(((?:[^\s()<>]+/)*assets/[^()<>\n"]*?\.[0-9A-Za-z]{1,8})(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)
	// annotatedPDF matches a reference to a place in a PDF: <<assets/a.pdf/20240101000000-abcdefg "text">>.
	annotatedPDF = lazyregexp.New(`<<(assets/[^\n<>"]+?)/[0-9]{14}-[0-9a-z]{7}(?:\s[^\n<>]*)?>>`)
)

// linkedAddresses returns the addresses that a Markdown text refers to, in order and without duplicates: images and
// links with or without titles, link definitions, HTML, places in PDFs. It ignores code.
func linkedAddresses(markdown string) []string {
	source := []byte(markdown)
	doc := newParser().Parse(text.NewReader(source))
	var out []string
	seen := map[string]bool{}
	add := func(address string) {
		if address = strings.TrimSpace(address); address != "" && !seen[address] {
			seen[address] = true
			out = append(out, address)
		}
	}
	inHTML := func(raw string) {
		for _, m := range sources.FindAllStringSubmatch(raw, -1) {
			add(html.UnescapeString(m[1] + m[2] + m[3]))
		}
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			add(string(n.Destination))
		case *ast.Link:
			add(string(n.Destination))
		case *ast.HTMLBlock:
			inHTML(string(n.Lines().Value(source)))
		case *ast.RawHTML:
			inHTML(string(n.Segments.Value(source)))
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			raw := withoutCode(n, source)
			for _, m := range spacedAddress.FindAllStringSubmatch(raw, -1) {
				if strings.Contains(m[1], " ") {
					add(m[1])
				}
			}
			for _, m := range annotatedPDF.FindAllStringSubmatch(raw, -1) {
				add(m[1])
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

// newParser returns a CommonMark parser without a renderer.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
}

// withoutCode returns the source of a block with its code spans blanked out.
func withoutCode(n ast.Node, source []byte) string {
	lines := n.Lines()
	if lines == nil || lines.Len() == 0 {
		return ""
	}
	first, last := lines.At(0).Start, lines.At(lines.Len()-1).Stop
	raw := []byte(string(source[first:last]))
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if code, ok := c.(*ast.CodeSpan); ok && entering {
			for t := code.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					for i := t.Segment.Start; i < t.Segment.Stop; i++ {
						raw[i-first] = ' '
					}
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return string(raw)
}

// assetAddress reports whether an address seems to be an asset of the workspace rather than a web address.
func assetAddress(address string) bool {
	return strings.HasPrefix(address, "assets/") || strings.Contains(address, "/assets/") && !strings.Contains(address, ":") && !strings.HasPrefix(address, "/")
}
