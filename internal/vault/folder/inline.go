package folder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
)

// reader converts the text of one page to SiYuan's Markdown.
type reader struct {
	im    *importer
	pg    *page
	defs  map[string]string // addresses of links by name
	line  int               // current line
	kinds changeKinds       // how the converted line differs from the one in the file
	// row means that the current line is a table row, in which bars are escaped.
	row   bool
	depth int // nesting of calls of inline
	// quiet means to report no problems.
	quiet bool
	// markup means that the current line is part of an HTML block, in which Markdown has no meaning.
	markup  bool
	usedIDs []string // ids given to blocks of the page
}

func (r *reader) problem(code, what, why string) {
	if r.quiet {
		return
	}
	r.im.report.problem(r.pg.path(), r.line, code, what, why)
}

// inline rewrites the links, tags and comments in a line of text. Code and formulas stay as they are.
func (r *reader) inline(text string) string {
	if !strings.ContainsAny(text, "[#%{<(") || r.depth > 8 {
		return text
	}
	r.depth++
	defer func() { r.depth-- }()
	var out strings.Builder
	for i := 0; i < len(text); {
		n, replacement := r.token(text, i)
		if n == 0 {
			out.WriteByte(text[i])
			i++
			continue
		}
		if replacement != text[i:i+n] {
			r.markKind(kindOf(text[i:]))
		}
		out.WriteString(replacement)
		i += n
	}
	return out.String()
}

// kindOf returns the kind of change that rewriting the token at the start of text makes.
func kindOf(text string) changeKinds {
	switch text[0] {
	case '<':
		return asAddress
	case '{':
		return asCode
	case '#':
		return asTag
	case '%':
		return asComment
	}
	return asReference
}

// token reads the token at index i of a line. It returns its length and what replaces it; length 0 means an ordinary
// character.
func (r *reader) token(text string, i int) (n int, replacement string) {
	rest := text[i:]
	unchanged := func(n int) (int, string) { return n, rest[:n] }
	switch rest[0] {
	case '\\':
		return unchanged(min(2, len(rest)))
	case '`':
		run := len(rest) - len(strings.TrimLeft(rest, "`"))
		if end := closingBackticks(rest[run:], run); end >= 0 {
			return unchanged(run + end + run)
		}
		return unchanged(run)
	case '$':
		return unchanged(formulaLength(rest))
	case '<':
		return r.element(rest)
	case '{':
		return r.braces(rest)
	case '(':
		return r.parens(rest)
	case '!':
		if strings.HasPrefix(rest, "![[") {
			return r.wikiEmbed(rest)
		}
		if strings.HasPrefix(rest, "![") {
			return r.link(rest, true)
		}
	case '[':
		if strings.HasPrefix(rest, "[[") {
			if n, replacement = r.wikiLink(rest); n > 0 {
				return n, replacement
			}
		}
		return r.link(rest, false)
	case '#':
		return r.tag(text, i)
	case '%':
		if strings.HasPrefix(rest, "%%") {
			if end := strings.Index(rest[2:], "%%"); end > 0 && rest[2] != '%' && r.pg.dialect == plain && !strings.Contains(rest[2:end+2], "--") {
				return end + 4, "<!--" + rest[2:end+2] + "-->"
			}
		}
	}
	return 0, ""
}

// closingBackticks returns where a run of exactly n backticks begins, -1 if there is none.
func closingBackticks(text string, n int) int {
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
	return -1
}

// formulaLength returns the length of a formula in a line, 0 if the sign begins none.
func formulaLength(text string) int {
	if strings.HasPrefix(text, "$$") {
		if end := strings.Index(text[2:], "$$"); end > 0 {
			return end + 4
		}
		return 2
	}
	end := strings.IndexByte(text[1:], '$')
	if end <= 0 || text[1] == ' ' || text[end] == ' ' || text[end] == '\\' || end+2 < len(text) && isDigit(text[end+2]) {
		return 0
	}
	return end + 2
}

var (
	sourceAttr  = lazyregexp.New(`(?i)\b(src|poster|href)\s*=\s*("([^"]*)"|'([^']*)')`)
	autoLink    = lazyregexp.New(`^<[A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*>`)
	htmlElement = lazyregexp.New(`^<(?:!--(?s:.*?)-->|/?[A-Za-z][^<>]*>)`)
)

// element reads an HTML element. The files that it refers to become assets.
func (r *reader) element(text string) (int, string) {
	if tag := imageTag.FindString(text); tag != "" && !r.markup {
		if image := r.imageOf(tag); image != "" {
			return len(tag), image
		}
	}
	if link := autoLink.FindString(text); link != "" {
		return len(link), link
	}
	tag := htmlElement.FindString(text)
	if tag == "" {
		return 0, ""
	}
	return len(tag), sourceAttr.ReplaceAllStringFunc(tag, func(pair string) string {
		m := sourceAttr.FindStringSubmatch(pair)
		address := m[3] + m[4]
		if isExternal(address) {
			return pair
		}
		at := r.file(address, false)
		if at == "" || isPage(at) {
			return pair
		}
		asset := r.asset(at)
		if asset == "" {
			return pair
		}
		return m[1] + `="` + asset + `"`
	})
}

// braces reads attribute lists, which stay as they are, and embeds of Logseq.
func (r *reader) braces(text string) (int, string) {
	switch {
	case strings.HasPrefix(text, "{:"):
		if end := strings.IndexByte(text, '}'); end > 0 {
			return end + 1, text[:end+1]
		}
	case strings.HasPrefix(text, "{{") && r.pg.dialect == logseqDialect:
		if end := strings.Index(text, "}}"); end > 0 {
			if t, ok := r.logseqEmbed(text[:end+2]); ok {
				return end + 2, r.reference(t, "")
			}
			return end + 2, "`" + text[:end+2] + "`"
		}
	}
	return 0, ""
}

var (
	ownRef   = lazyregexp.New(`^\(\(\d{14}-[0-9a-z]{7}(?: (?:'[^']*'|"[^"]*"))?\)\)`)
	uuidRef  = lazyregexp.New(`^\(\(([0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27})\)\)`)
	idInText = lazyregexp.New(`\d{14}-[0-9a-z]{7}`)
)

// parens reads references to blocks of SiYuan and Logseq.
func (r *reader) parens(text string) (int, string) {
	if !strings.HasPrefix(text, "((") {
		return 0, ""
	}
	if ref := ownRef.FindString(text); ref != "" {
		return len(ref), ref
	}
	m := uuidRef.FindStringSubmatch(text)
	if m == nil || r.pg.dialect != logseqDialect {
		return 0, ""
	}
	t, ok := r.im.index.byUUID[foldName(m[1])]
	if !ok {
		r.problem(codeLinkMissing, m[0], "no block has this id: kept as text")
		return len(m[0]), m[0]
	}
	return len(m[0]), r.reference(t, "")
}

// tag reads #tag, which SiYuan writes as #tag#. A # that begins no tag is escaped if it could form one with a later #.
func (r *reader) tag(text string, i int) (int, string) {
	if n, tag := r.ownTag(text, i); n > 0 {
		return n, tag
	}
	if strings.Count(text, "#") > 1 {
		return 1, `\#`
	}
	return 0, ""
}

// ownTag reads a tag at index i of a text, where a # is, and returns it in SiYuan's form; length 0 means that no tag begins
// there.
func (r *reader) ownTag(text string, i int) (int, string) {
	if i > 0 {
		previous, _ := utf8.DecodeLastRuneInString(text[:i])
		if !unicode.IsSpace(previous) && !strings.ContainsRune("(（，。、；：,;*_~>【「", previous) {
			return 0, ""
		}
	}
	rest := text[i+1:]
	if name, found := strings.CutPrefix(rest, "[["); found && r.pg.dialect == logseqDialect {
		if end := strings.Index(name, "]]"); end > 0 {
			return end + 5, "#" + name[:end] + "#"
		}
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return !tagRune(c) })
	if end < 0 {
		end = len(rest)
	}
	name := strings.TrimRight(rest[:end], "/")
	if name == "" || strings.Trim(name, "0123456789") == "" || strings.Trim(name, "-_/") == "" {
		return 0, ""
	}
	if strings.HasPrefix(rest[end:], "#") {
		return end + 2, text[i : i+end+2] // SiYuan's own
	}
	if hexColor.MatchString(name) && i > 0 && r.row {
		return 0, ""
	}
	return 1 + len(name), "#" + name + "#"
}

// hexColor matches a color after its number sign, which Obsidian does not take for a tag.
var hexColor = lazyregexp.New(`^(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`)

// tagRune reports whether a character may be part of a tag of Obsidian.
func tagRune(c rune) bool {
	return c == '_' || c == '-' || c == '/' || unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) ||
		c >= 0x1f000 || c >= 0x2600 && c < 0x2c00 || c == 0x200d || c == 0xfe0f
}
