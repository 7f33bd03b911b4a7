// Package markdown lays Markdown out for a terminal: it turns a text into lines of limited width with terminal attributes.
// Code stays as it was written. HTML is shown as text.
package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The terminal attributes of texts. Most are ended by a code of their own, so that they nest.
var (
	strong   = style{"\x1b[1m", "\x1b[22m"}
	emphasis = style{"\x1b[3m", "\x1b[23m"}
	struck   = style{"\x1b[9m", "\x1b[29m"}
	faint    = style{"\x1b[2m", "\x1b[22m"}
	code     = style{"\x1b[36m", "\x1b[39m"}
)

type style struct{ on, off string }

// Renderer lays texts out. The zero value writes no attributes.
type Renderer struct {
	// Styled says whether the terminal is told of bold, italic and colours.
	Styled bool
}

// reader returns a parser for CommonMark with tables, strikethrough and task lists. It is put together here because the
// usual constructor would also add the code that writes HTML to the program.
var reader = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
			util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(extension.NewTaskCheckBoxParser(), 0))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// Render returns the lines of a text, wrapped at width columns. The caller has removed control characters other than line
// breaks and tabs from source.
func (r Renderer) Render(source string, width int) []string {
	source = strings.ReplaceAll(source, "\t", "    ")
	src := []byte(source)
	doc := reader().Parse(text.NewReader(src))
	p := &page{r, src}
	return p.blocks(doc, max(width, 8), false)
}

// Split is for a text that still grows. It returns the length of its beginning that consists of complete blocks, which
// further text cannot change.
func Split(source string) int {
	whole, fence, blank, list := 0, "", false, false
	for at := 0; at < len(source); {
		end := strings.IndexByte(source[at:], '\n')
		if end < 0 {
			break // the line may become anything
		}
		line := source[at : at+end]
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		item := isItem(trimmed)
		switch {
		case fence != "":
			if rest, ok := strings.CutPrefix(trimmed, fence); ok && strings.Trim(rest, fence[:1]+" ") == "" {
				fence = ""
			}
			blank = false
		case strings.TrimSpace(line) == "":
			blank = true
		default:
			if blank && indent == 0 && !(list && item) {
				whole, list = at, false
			}
			blank = false
			list = list || item
			for _, mark := range []string{"```", "~~~"} {
				if strings.HasPrefix(trimmed, mark) {
					fence = mark + strings.Repeat(mark[:1], len(trimmed)-len(strings.TrimLeft(trimmed, mark[:1]))-len(mark))
				}
			}
		}
		at += end + 1
	}
	return whole
}

// isItem reports whether a line begins an item of a list.
func isItem(line string) bool {
	if len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && len(digits) > 1 && (digits[0] == '.' || digits[0] == ')') && digits[1] == ' '
}

// page lays out one text.
type page struct {
	Renderer
	src []byte
}

// in returns text in a style.
func (p *page) in(s style, text string) string {
	if !p.Styled || text == "" {
		return text
	}
	return s.on + text + s.off
}

// blocks lays out the children of a block, with empty lines between them unless they are tight.
func (p *page) blocks(n ast.Node, width int, tight bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := p.block(c, width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// block lays out one block. Kinds that it does not know are shown as they were written.
func (p *page) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return wrap(p.in(strong, strings.Repeat("#", n.Level)+" "+p.inline(n)), width)
	case *ast.Paragraph, *ast.TextBlock:
		return wrap(p.inline(n), width)
	case *ast.ThematicBreak:
		return []string{p.in(faint, strings.Repeat("─", min(width, 40)))}
	case *ast.Blockquote:
		return indented(p.blocks(n, width-2, false), p.in(faint, "│ "), p.in(faint, "│ "))
	case *ast.List:
		var out []string
		number := n.Start
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			mark := "• "
			if n.IsOrdered() {
				mark = strconv.Itoa(number) + ". "
				number++
			}
			if len(out) > 0 && !n.IsTight {
				out = append(out, "")
			}
			w := lipgloss.Width(mark)
			lines := p.blocks(c, width-w, n.IsTight)
			if len(lines) == 0 {
				lines = []string{""}
			}
			out = append(out, indented(lines, mark, strings.Repeat(" ", w))...)
		}
		return out
	case *ast.FencedCodeBlock:
		return p.code(n, string(n.Language(p.src)), width)
	case *ast.CodeBlock:
		return p.code(n, "", width)
	case *extast.Table:
		return p.table(n, width)
	}
	return wrap(strings.TrimRight(string(n.Lines().Value(p.src)), "\n"), width)
}

// code lays out code as it was written. Lines that are too long continue in the next line.
func (p *page) code(n ast.Node, language string, width int) []string {
	out := []string{}
	if language != "" {
		out = append(out, p.in(faint, "  "+language))
	}
	body := strings.TrimRight(string(n.Lines().Value(p.src)), "\n")
	for line := range strings.SplitSeq(body, "\n") {
		for _, piece := range hard(line, width-2) {
			out = append(out, "  "+p.in(code, piece))
		}
	}
	return out
}

// table lays out a table. If it is too wide, the widest columns are made narrower and their cells are wrapped.
func (p *page) table(n *extast.Table, width int) []string {
	var rows [][]string
	columns := 0
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, p.inline(c))
		}
		rows, columns = append(rows, row), max(columns, len(row))
	}
	widths := make([]int, columns)
	total := 3 * (columns - 1)
	for i := range widths {
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], lipgloss.Width(row[i]), 1)
			}
		}
		total += widths[i]
	}
	for ; total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 4 {
			break
		}
		widths[widest]--
	}
	var out []string
	for i, row := range rows {
		cells, height := make([][]string, columns), 1
		for j := range cells {
			if j < len(row) {
				cells[j] = wrap(row[j], widths[j])
			}
			height = max(height, len(cells[j]))
		}
		for y := range height {
			var b strings.Builder
			for j, w := range widths {
				cell := ""
				if y < len(cells[j]) {
					cell = cells[j][y]
				}
				if j > 0 {
					b.WriteString(p.in(faint, " │ "))
				}
				if i == 0 {
					cell = p.in(strong, cell)
				}
				b.WriteString(aligned(cell, w, n.Alignments, j))
			}
			out = append(out, strings.TrimRight(b.String(), " "))
		}
		if i == 0 {
			parts := make([]string, columns)
			for j, w := range widths {
				parts[j] = strings.Repeat("─", w)
			}
			out = append(out, p.in(faint, strings.Join(parts, "─┼─")))
		}
	}
	return out
}

// aligned pads the cell of column j with spaces to its width.
func aligned(cell string, width int, columns []extast.Alignment, j int) string {
	free, before := max(width-lipgloss.Width(cell), 0), 0
	if j < len(columns) {
		switch columns[j] {
		case extast.AlignRight:
			before = free
		case extast.AlignCenter:
			before = free / 2
		case extast.AlignLeft, extast.AlignNone:
		}
	}
	return strings.Repeat(" ", before) + cell + strings.Repeat(" ", free-before)
}

// inline returns the text of the inline elements below n.
func (p *page) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(p.src))
			switch {
			case c.HardLineBreak():
				b.WriteByte('\n')
			case c.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.CodeSpan:
			b.WriteString(p.in(code, p.inline(c)))
		case *ast.Emphasis:
			s := emphasis
			if c.Level > 1 {
				s = strong
			}
			b.WriteString(p.in(s, p.inline(c)))
		case *extast.Strikethrough:
			b.WriteString(p.in(struck, p.inline(c)))
		case *extast.TaskCheckBox:
			b.WriteString(map[bool]string{true: "[x] ", false: "[ ] "}[c.IsChecked])
		case *ast.Link:
			b.WriteString(p.link(p.inline(c), c.Destination))
		case *ast.Image:
			b.WriteString(p.link(p.inline(c), c.Destination))
		case *ast.AutoLink:
			b.Write(c.Label(p.src))
		case *ast.RawHTML:
			b.Write(c.Segments.Value(p.src))
		default:
			b.WriteString(p.inline(c))
		}
	}
	return b.String()
}

// link returns the text of a link with its address, because a terminal does not show where a text leads.
func (p *page) link(text string, to []byte) string {
	if text == "" || bytes.Equal([]byte(text), to) {
		return string(to)
	}
	return text + p.in(faint, " ("+string(to)+")")
}

func wrap(text string, width int) []string {
	return strings.Split(lipgloss.Wrap(text, max(width, 2), ""), "\n")
}

// hard breaks a line every width columns, also within words.
func hard(line string, width int) []string {
	width = max(width, 2)
	var out []string
	start, used := 0, 0
	for i, r := range line {
		w := lipgloss.Width(string(r))
		if used+w > width {
			out = append(out, line[start:i])
			start, used = i, 0
		}
		used += w
	}
	return append(out, line[start:])
}

// indented puts first before the first line and next before all others.
func indented(lines []string, first, next string) []string {
	for i, line := range lines {
		lines[i] = next + line
		if i == 0 {
			lines[i] = first + line
		}
	}
	return lines
}
