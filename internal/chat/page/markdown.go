// Package page converts Markdown to safe HTML: without scripts or forms, and without loading anything. HTML in the
// source is shown as text. Only links to web pages and mail addresses can be followed.
//
// The entry point is [Markdown].
package page

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxDepth  = 60        // levels of nested blocks and marks; the rest is left out
	maxSource = 512 << 10 // bytes; a longer text is shown unconverted
	maxOpen   = 400       // characters in one line that could each open a block
	maxMarks  = 4000      // characters in one paragraph that could each begin or end a mark
)

// markdownParser parses CommonMark with tables, strikethrough and task lists.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
			util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(extension.NewTaskCheckBoxParser(), 0))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// Text escapes a text for HTML, as the content of an element or of a quoted attribute.
func Text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// Markdown converts Markdown to HTML. It adds below to the levels of headings.
func Markdown(source string, below int) string {
	source = strings.ToValidUTF8(source, "\uFFFD")
	if !isParsedQuickly(source) {
		return unconverted(source)
	}
	src := []byte(source)
	w := &writer{src: src, addedLevels: below}
	w.writeBlocks(markdownParser().Parse(text.NewReader(src)), false)
	return w.String()
}

func unconverted(source string) string { return "<pre>" + Text(source) + "</pre>\n" }

// isParsedQuickly reports whether a text is short enough, and has few enough marks, to be parsed in linear time. Parsing takes
// much longer for some texts.
func isParsedQuickly(source string) bool {
	if len(source) > maxSource {
		return false
	}
	marks := 0
	for line := range strings.SplitSeq(source, "\n") {
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		marks += count(line, "*", "_", "~", "[")
		if marks > maxMarks || len(line) > maxOpen && count(line, ">", "[", "- ", "* ", "+ ", ". ", ") ") > maxOpen {
			return false
		}
	}
	return true
}

// count returns how often signs occur in line.
func count(line string, signs ...string) (n int) {
	for _, s := range signs {
		n += strings.Count(line, s)
	}
	return n
}

// writer writes the nodes of a parsed text as HTML.
type writer struct {
	bytes.Buffer
	src         []byte // the Markdown
	addedLevels int    // added to the levels of headings
	depth       int    // of the node being written
}

// writeDeeper runs write one level deeper. It returns false, without running it, at the maximum depth.
func (w *writer) writeDeeper(write func()) bool {
	if w.depth >= maxDepth {
		return false
	}
	w.depth++
	write()
	w.depth--
	return true
}

// writeElement writes an element with the content that write writes.
func (w *writer) writeElement(tag, class string, write func()) {
	w.WriteString("<" + tag)
	if class != "" {
		w.WriteString(` class="` + class + `"`)
	}
	w.WriteString(">")
	write()
	w.WriteString("</" + tag + ">")
}

// writeBlocks writes the children of a block. In a tight list, paragraphs get no element of their own.
func (w *writer) writeBlocks(n ast.Node, tight bool) {
	if !w.writeDeeper(func() {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			w.writeBlock(c, tight)
			w.WriteByte('\n')
		}
	}) {
		w.WriteString("<p>…</p>")
	}
}

// writeBlock writes one block. In a tight list, a paragraph gets no element of its own.
func (w *writer) writeBlock(n ast.Node, tight bool) {
	switch n := n.(type) {
	case *ast.Heading:
		w.writeElement(fmt.Sprintf("h%d", min(n.Level+w.addedLevels, 6)), "", func() { w.writeInlines(n) })
	case *ast.Paragraph:
		w.writeElement("p", "", func() { w.writeInlines(n) })
	case *ast.TextBlock:
		if tight {
			w.writeInlines(n)
		} else {
			w.writeElement("p", "", func() { w.writeInlines(n) })
		}
	case *ast.ThematicBreak:
		w.WriteString("<hr>")
	case *ast.Blockquote:
		w.writeElement("blockquote", "", func() { w.writeBlocks(n, false) })
	case *ast.List:
		w.writeList(n)
	case *extast.Table:
		w.writeElement("table", "", func() { w.writeTable(n) })
	case *ast.LinkReferenceDefinition:
	case *ast.HTMLBlock:
		body := n.Lines().Value(w.src)
		if n.HasClosure() {
			body = append(bytes.Clone(body), n.ClosureLine.Value(w.src)...)
		}
		w.WriteString(unconverted(strings.TrimRight(string(body), "\n")))
	default: // code
		w.WriteString("<pre><code>" + Text(string(n.Lines().Value(w.src))) + "</code></pre>")
	}
}

func (w *writer) writeList(n *ast.List) {
	tag := "ul"
	if n.IsOrdered() {
		tag = "ol"
	}
	w.WriteString("<" + tag)
	if n.IsOrdered() && n.Start != 1 {
		fmt.Fprintf(w, ` start="%d"`, n.Start)
	}
	w.WriteString(">\n")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.writeElement("li", "", func() { w.writeBlocks(c, n.IsTight) })
		w.WriteByte('\n')
	}
	w.WriteString("</" + tag + ">")
}

func (w *writer) writeTable(n *extast.Table) {
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		tag := "td"
		if _, head := r.(*extast.TableHeader); head {
			tag = "th"
		}
		w.writeElement("tr", "", func() {
			for c := r.FirstChild(); c != nil; c = c.NextSibling() {
				class := ""
				if cell, ok := c.(*extast.TableCell); ok && (cell.Alignment == extast.AlignRight || cell.Alignment == extast.AlignCenter) {
					class = cell.Alignment.String()
				}
				w.writeElement(tag, class, func() { w.writeInlines(c) })
			}
		})
		w.WriteByte('\n')
	}
}

// writeInlines writes the inline children of a node.
func (w *writer) writeInlines(n ast.Node) {
	if !w.writeDeeper(func() {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			w.writeInline(c)
		}
	}) {
		w.WriteString("…")
	}
}

// writeInline writes one inline node: text, emphasis, code, a link.
func (w *writer) writeInline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		if n.IsRaw() {
			w.WriteString(Text(string(n.Value(w.src))))
		} else {
			w.WriteString(Text(unescape(n.Value(w.src))))
		}
		switch {
		case n.HardLineBreak():
			w.WriteString("<br>\n")
		case n.SoftLineBreak():
			w.WriteByte('\n')
		}
	case *ast.String:
		w.WriteString(Text(string(n.Value)))
	case *ast.CodeSpan:
		w.writeElement("code", "", func() { w.writeCodeText(n) })
	case *ast.Emphasis:
		tag := "em"
		if n.Level > 1 {
			tag = "strong"
		}
		w.writeElement(tag, "", func() { w.writeInlines(n) })
	case *extast.Strikethrough:
		w.writeElement("del", "", func() { w.writeInlines(n) })
	case *extast.TaskCheckBox:
		w.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
	case *ast.Link:
		w.writeLink(unescape(n.Destination), func() { w.writeInlines(n) })
	case *ast.Image: // only linked: loading it would tell its host that the page is being read
		w.writeLink(unescape(n.Destination), func() { w.writeInlines(n) })
	case *ast.AutoLink:
		label := string(n.Label(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail {
			w.writeLink("mailto:"+label, func() { w.WriteString(Text(label)) })
		} else {
			w.writeLink(label, func() { w.WriteString(Text(label)) })
		}
	case *ast.RawHTML:
		w.WriteString(Text(string(n.Segments.Value(w.src))))
	default:
		w.writeInlines(n)
	}
}

// writeCodeText writes the text of inline code, in which a line break is a space.
func (w *writer) writeCodeText(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.WriteString(Text(strings.ReplaceAll(string(t.Value(w.src)), "\n", " ")))
		}
	}
}

// writeLink writes a link. If it may not be followed, it writes its label and its address as text.
func (w *writer) writeLink(to string, label func()) {
	if !isFollowable(to) {
		label()
		if to != "" {
			w.WriteString(" <code>" + Text(to) + "</code>")
		}
		return
	}
	w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + Text(string(util.URLEscape([]byte(to), false))) + `">`)
	label()
	w.WriteString("</a>")
}

// isFollowable reports whether a link may be followed.
func isFollowable(to string) bool {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if len(to) > len(scheme) && strings.EqualFold(to[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// unescape replaces backslash escapes and entities by their characters.
func unescape(raw []byte) string {
	var b strings.Builder
	plain := func(piece []byte) { b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(piece))) }
	from := 0
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] == '\\' && util.IsPunct(raw[i+1]) {
			plain(raw[from:i])
			b.WriteByte(raw[i+1])
			i++
			from = i + 1
		}
	}
	plain(raw[from:])
	return b.String()
}
