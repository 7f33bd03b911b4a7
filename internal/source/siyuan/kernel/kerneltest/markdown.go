package kerneltest

import (
	"maps"
	"regexp"
	"strings"
)

var (
	headingLine   = regexp.MustCompile(`^#{1,6}(\s+|$)`)
	breakLine     = regexp.MustCompile(`^(-{3,}|\*{3,}|_{3,})\s*$`)
	itemLine      = regexp.MustCompile(`^([-*+]|\d{1,9}[.)])(\s+|$)`)
	taskMark      = regexp.MustCompile(`^\[([^\]])\](?:\s+|$)`)
	tableRule     = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	htmlLine      = regexp.MustCompile(`(?i)^<(div|iframe|video|audio|section|table|details|pre|center|!--)`)
	embedLine     = regexp.MustCompile(`^\{\{[^{]`)
	calloutLine   = regexp.MustCompile(`^\[!([A-Z]+)\]\s*`)
	itemAttribute = regexp.MustCompile(`^\{:\s+[^}]*\}`)
)

// parseMarkdown splits markdown into blocks that have no ids yet beyond those their IALs give. It knows the block
// kinds of the recordings; what it does not know is a paragraph.
func parseMarkdown(text string) []*block {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x00", "\ufffd")
	p := parser{lines: strings.Split(text, "\n")}
	return p.blocks()
}

type parser struct {
	lines []string
	at    int
}

func (p *parser) blocks() []*block {
	var found []*block
	blank := true // the line above was blank
	for p.at < len(p.lines) {
		line := strings.TrimRight(p.lines[p.at], " \t")
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case trimmed == "":
			p.at++
			blank = true
			continue
		case ialLine.MatchString(trimmed):
			p.at++
			found = attach(found, parseIAL(trimmed), blank)
		default:
			found = append(found, p.block(trimmed))
		}
		blank = false
	}
	return found
}

// attach gives the attributes of an IAL line to the block above it, or makes an empty paragraph of a line that stands
// alone. The IAL of a document ends an export and is no block.
func attach(found []*block, attrs map[string]string, blank bool) []*block {
	if attrs["type"] == "doc" {
		return found
	}
	if len(found) > 0 {
		last := found[len(found)-1]
		if !blank || last.attrs == nil && last.kind == kindIFrame {
			maps.Copy(attrs, last.attrs)
			last.attrs = attrs
			return found
		}
	}
	return append(found, &block{kind: kindParagraph, attrs: attrs})
}

// block reads the block that begins at the current line.
func (p *parser) block(first string) *block {
	switch {
	case strings.HasPrefix(first, "```") || strings.HasPrefix(first, "~~~"):
		fence := first[:3]
		return &block{kind: kindCode, text: p.fenced(fence)}
	case strings.HasPrefix(first, "$$"):
		if rest := strings.TrimSpace(first[2:]); rest != "" && strings.HasSuffix(rest, "$$") {
			p.at++
			return &block{kind: kindMath, text: "$$\n" + strings.TrimSpace(strings.TrimSuffix(rest, "$$")) + "\n$$"}
		}
		return &block{kind: kindMath, text: p.fenced("$$")}
	case headingLine.MatchString(first):
		p.at++
		level := len(first) - len(strings.TrimLeft(first, "#"))
		return &block{kind: kindHeading, text: strings.TrimSpace(first[:level] + " " + strings.TrimSpace(first[level:]))}
	case breakLine.MatchString(first):
		p.at++
		return &block{kind: kindBreak, text: "---"}
	case strings.HasPrefix(first, ">"):
		return p.quote()
	case strings.HasPrefix(first, "{{{"):
		return p.super(first)
	case embedLine.MatchString(first):
		return p.embed(first)
	case htmlLine.MatchString(first):
		return p.html(first)
	case itemLine.MatchString(first):
		return p.list()
	case strings.Contains(first, "|") && p.at+1 < len(p.lines) && strings.Contains(p.lines[p.at+1], "-") && tableRule.MatchString(p.lines[p.at+1]):
		return p.table()
	}
	return p.paragraph()
}

// fenced takes a block between two fences; one that is never closed ends with the text.
func (p *parser) fenced(fence string) string {
	closed := false
	text := p.until(func(l string) bool {
		closed = strings.HasPrefix(strings.TrimSpace(l), fence)
		return closed
	})
	if !closed {
		text += "\n" + fence
	}
	return text
}

// until takes the current line and all up to the one that ends the block.
func (p *parser) until(end func(string) bool) string {
	start := p.at
	for p.at++; p.at < len(p.lines); p.at++ {
		if end(p.lines[p.at]) {
			p.at++
			break
		}
	}
	return strings.TrimRight(strings.Join(p.lines[start:p.at], "\n"), "\n")
}

func (p *parser) paragraph() *block {
	start := p.at
	for p.at++; p.at < len(p.lines); p.at++ {
		line := strings.TrimSpace(p.lines[p.at])
		if line == "" || ialLine.MatchString(line) || headingLine.MatchString(line) || breakLine.MatchString(line) ||
			strings.HasPrefix(line, "```") || strings.HasPrefix(line, "$$") || strings.HasPrefix(line, "> ") ||
			strings.HasPrefix(line, "{{{") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") ||
			strings.HasPrefix(line, "1. ") || htmlLine.MatchString(line) || line == "}}}" {
			break
		}
	}
	lines := make([]string, 0, p.at-start)
	for _, line := range p.lines[start:p.at] {
		lines = append(lines, strings.TrimSpace(line))
	}
	return &block{kind: kindParagraph, text: normalizeInline(strings.Join(lines, "\n"))}
}

func (p *parser) quote() *block {
	var inner []string
	for ; p.at < len(p.lines) && strings.HasPrefix(strings.TrimLeft(p.lines[p.at], " "), ">"); p.at++ {
		line := strings.TrimPrefix(strings.TrimLeft(p.lines[p.at], " "), ">")
		inner = append(inner, strings.TrimPrefix(line, " "))
	}
	b := &block{kind: kindQuote}
	if mark := calloutLine.FindStringSubmatch(inner[0]); mark != nil {
		b.kind, b.marker = kindCallout, mark[1]
		inner = inner[1:]
	}
	b.children = (&parser{lines: inner}).blocks()
	return b
}

// super reads {{{row ... }}}, which may nest.
func (p *parser) super(first string) *block {
	b := &block{kind: kindSuper, marker: strings.TrimSpace(strings.TrimPrefix(first, "{{{"))}
	if b.marker == "" {
		b.marker = "row"
	}
	start, depth, code := p.at+1, 1, false
	for p.at++; p.at < len(p.lines) && depth > 0; p.at++ {
		switch line := strings.TrimLeft(p.lines[p.at], "-*+> \t"); {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			code = !code
		case code:
		case strings.HasPrefix(line, "{{{"):
			depth++
		case strings.TrimSpace(line) == "}}}":
			depth--
		}
	}
	end := p.at
	if depth == 0 {
		end--
	}
	b.children = (&parser{lines: p.lines[start:end]}).blocks()
	return b
}

func (p *parser) embed(first string) *block {
	text := first
	if strings.HasSuffix(first, "}}") {
		p.at++
	} else {
		text = p.until(func(l string) bool { return strings.HasSuffix(strings.TrimSpace(l), "}}") })
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}")
	return &block{kind: kindEmbed, text: "{{" + strings.TrimSpace(inner) + "}}"}
}

func (p *parser) html(first string) *block {
	b := &block{kind: kindHTML}
	switch {
	case strings.Contains(first, `data-type="NodeAttributeView"`):
		b.kind = kindDatabase
	case strings.HasPrefix(first, "<iframe"):
		b.kind = kindIFrame
	case strings.HasPrefix(first, "<video"):
		b.kind = kindVideo
	case strings.HasPrefix(first, "<audio"):
		b.kind = kindAudio
	}
	start := p.at
	for p.at++; p.at < len(p.lines); p.at++ {
		if line := strings.TrimSpace(p.lines[p.at]); line == "" || ialLine.MatchString(line) {
			break
		}
	}
	b.text = strings.TrimSpace(strings.Join(p.lines[start:p.at], "\n"))
	return b
}

// list reads the items that begin at the column of the current line.
func (p *parser) list() *block {
	b := &block{kind: kindList}
	column := indent(p.lines[p.at])
	ordered := !strings.ContainsAny(strings.TrimSpace(p.lines[p.at])[:1], "-*+")
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			next := p.nextText()
			if next < 0 || indent(p.lines[next]) != column || !itemLine.MatchString(strings.TrimSpace(p.lines[next])) {
				break
			}
			p.at = next
			continue
		}
		if indent(line) != column || !itemLine.MatchString(trimmed) || breakLine.MatchString(trimmed) ||
			ordered == strings.ContainsAny(trimmed[:1], "-*+") {
			break
		}
		b.children = append(b.children, p.item(column))
	}
	return b
}

func (p *parser) item(column int) *block {
	first := strings.TrimLeft(p.lines[p.at], " \t")
	mark := itemLine.FindStringSubmatch(first)
	b := &block{kind: kindItem, marker: mark[1]}
	if strings.ContainsAny(b.marker, "*+") {
		b.marker = "-"
	}
	rest := strings.TrimLeft(first[len(mark[0]):], " ")
	if attrs := itemAttribute.FindString(rest); attrs != "" {
		b.attrs = parseIAL(attrs)
		rest = strings.TrimLeft(rest[len(attrs):], " ")
	}
	if task := taskMark.FindStringSubmatch(rest); task != nil {
		b.task = strings.ToUpper(task[1])
		rest = rest[len(task[0]):]
	}
	inner := []string{rest}
	for p.at++; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if strings.TrimSpace(line) == "" {
			next := p.nextText()
			if next < 0 || indent(p.lines[next]) <= column {
				break
			}
			inner = append(inner, "")
			continue
		}
		if indent(line) <= column {
			break
		}
		inner = append(inner, cutIndent(line, column+2, column+len(mark[1])+1))
	}
	b.children = (&parser{lines: inner}).blocks()
	if len(b.children) == 0 || b.children[0].kind == kindList {
		b.children = append([]*block{{kind: kindParagraph}}, b.children...)
	}
	return b
}

// nextText is the next line that is not blank, -1 at the end.
func (p *parser) nextText() int {
	for at := p.at; at < len(p.lines); at++ {
		if strings.TrimSpace(p.lines[at]) != "" {
			return at
		}
	}
	return -1
}

// indent is the column a line begins at; a tab counts four.
func indent(line string) int {
	column := 0
	for _, r := range line {
		switch r {
		case ' ':
			column++
		case '\t':
			column += 4
		default:
			return column
		}
	}
	return column
}

// cutIndent takes between atLeast and atMost columns of indentation off a line.
func cutIndent(line string, atLeast, atMost int) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	return line[min(indent(line), max(atLeast, atMost)):]
}
