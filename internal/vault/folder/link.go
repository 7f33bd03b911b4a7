package folder

import (
	"html"
	"net/url"
	"path"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// link reads [text](address) or [text][name] at the start of text, and an image if an exclamation mark precedes it. It returns
// how many bytes it read and what replaces them; 0 if there is no link.
func (r *reader) link(text string, image bool) (int, string) {
	open := 0
	if image {
		open = 1
	}
	end := closingBracket(text[open:])
	if end < 0 {
		return 0, ""
	}
	end += open
	label := text[open+1 : end]
	rest := text[end+1:]
	if n, replacement := r.readLabelled(label, rest); n > 0 && !image {
		return end + 1 + n, replacement
	}
	address, title, length := destinationOf(rest)
	byName := length == 0
	if byName {
		name := label
		if strings.HasPrefix(rest, "[") {
			if close := strings.IndexByte(rest, ']'); close > 0 {
				length = close + 1
				if close > 1 {
					name = rest[1:close]
				}
			}
		}
		def := r.defs[foldName(name)]
		if def == "" {
			return 0, ""
		}
		address, title, _ = destinationOf("(" + def + ")")
		r.markKind(asDefinition)
	}
	n := end + 1 + length
	return n, r.writeLink(linkParts{label, address, title, text[:n], image, byName})
}

var (
	labelledBlock = lazyregexp.New(`^\(\(\(([0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27})\)\)\)`)
	labelledPage  = lazyregexp.New(`^\(\[\[([^\[\]\n]+)\]\]\)`)
)

// readLabelled reads the target of a Logseq link with a label: (((uuid))) for a block, ([[page]]) for a page.
func (r *reader) readLabelled(label, rest string) (int, string) {
	if r.pg.dialect != logseqDialect {
		return 0, ""
	}
	m, t, why := labelledBlock.FindStringSubmatch(rest), target{}, ""
	if m != nil {
		var ok bool
		if t, ok = r.im.index.byUUID[foldName(m[1])]; !ok {
			why = "no block has this id: kept as it was"
		}
	} else if m = labelledPage.FindStringSubmatch(rest); m != nil {
		t, why = r.find(m[1])
	}
	if m == nil {
		return 0, ""
	}
	original := "[" + label + "]" + m[0]
	if why != "" {
		r.problem(codeLinkMissing, original, why)
		return len(m[0]), original
	}
	return len(m[0]), r.linkTo(t, r.inline(label), func(address string) string { return "[" + label + "](" + address + ")" })
}

// linkParts are the parts of a link or image.
type linkParts struct {
	label, address, title string
	source                string
	image                 bool
	byName                bool // its address is defined elsewhere
}

// writeLink returns the text for a link or image. An address may be one outside the folder, a heading of this page, a page, an
// attachment, or the name of a page; the first that fits counts. What leads nowhere is reported and kept as it was.
func (r *reader) writeLink(p linkParts) string {
	address, title, original, image := p.address, p.title, p.source, p.image
	label := p.label
	if !image {
		label = r.inline(p.label)
	}
	write := func(to string) string {
		mark := ""
		if image {
			mark = "!"
		}
		if to == address && !p.byName { // it stays as it was written
			return mark + "[" + label + original[len(mark)+1+len(p.label):]
		}
		address := to
		if title != "" {
			address += ` "` + strings.ReplaceAll(title, `"`, `\"`) + `"`
		}
		return mark + "[" + label + "](" + address + ")"
	}
	if isExternal(address) {
		if fragment, found := strings.CutPrefix(address, "#"); found && !image {
			if t, why := r.inside(r.pg, unescapeFragment(fragment)); why == "" && t.id != "" {
				return r.linkTo(t, label, write)
			}
			r.problem(codeLinkMissing, original, "the page has no such heading: kept as it was")
		}
		return write(address)
	}
	file, fragment, _ := strings.Cut(address, "#")
	if !image {
		if pg := r.pageAt(file); pg != nil {
			t, why := r.inside(pg, unescapeFragment(fragment))
			if why != "" {
				r.problem(codeLinkMissing, original, "the page has no heading or block of this name: the link leads to the page")
				t = target{page: pg}
			}
			return r.linkTo(t, label, write)
		}
	}
	at := r.file(file, false)
	if at == "" && (image || r.pg.dialect == plain && !strings.Contains(file, "/")) {
		at = r.file(file, true)
	}
	if at != "" && !isPage(at) {
		if asset := r.asset(at); asset != "" {
			return write(asset)
		}
		return write(address)
	}
	switch {
	case relativePath(r.pg.file, file) == "":
		r.problem(codeLinkMissing, original, "the link leads out of the folder: kept as it was")
	case image || path.Ext(file) != "" && !isPage(file):
		r.problem(codeFileMissing, original, "the file is not there: the link is kept as it was")
	default:
		if pg := r.im.index.wiki(r.pg, unescapeFragment(file)); pg != nil && !strings.Contains(file, "/") {
			if t, why := r.inside(pg, unescapeFragment(fragment)); why == "" {
				return r.linkTo(t, label, write)
			}
		}
		r.problem(codeLinkMissing, original, "the page is not there: the link is kept as it was")
	}
	return write(address)
}

// linkTo writes a reference to a document or block. A reference cannot hold images or other references, so a label with
// one gets a link to the address of the block instead.
func (r *reader) linkTo(t target, label string, write func(string) string) string {
	if strings.Contains(label, "![") || strings.Contains(label, "((") {
		return write("siyuan://blocks/" + t.ref())
	}
	return r.reference(t, unescapeBackslashes(label))
}

// unescapeFragment returns the fragment of an address as text.
func unescapeFragment(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

var escapedPunctuation = lazyregexp.New("\\\\([!-/:-@\\[-`{-~])")

func unescapeBackslashes(text string) string { return escapedPunctuation.ReplaceAllString(text, "$1") }

// closingBracket returns the index at which the bracket that begins a text is closed, -1 if it is not.
func closingBracket(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			if end := closingBackticks(text[i+run:], run); end >= 0 {
				i += run + end
			}
			i += run - 1
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// linkTitle splits what is between the parentheses of a link into the address and a title in quotes.
var linkTitle = lazyregexp.New(`^(.*?)[ \t]+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$`)

// destinationOf reads (address "title") and returns its length; 0 if there is none.
func destinationOf(text string) (address, title string, length int) {
	if !strings.HasPrefix(text, "(") {
		return "", "", 0
	}
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote && strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t"), ")") {
				quote = 0
			}
		case (c == '"' || c == '\'') && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t'):
			if strings.IndexByte(text[i+1:], c) >= 0 {
				quote = c
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				inner := strings.TrimSpace(text[1:i])
				if m := linkTitle.FindStringSubmatch(inner); m != nil {
					inner, title = strings.TrimSpace(m[1]), unescapeBackslashes(m[2]+m[3])
				}
				if strings.HasPrefix(inner, "<") && strings.HasSuffix(inner, ">") && len(inner) > 1 {
					inner = inner[1 : len(inner)-1]
				}
				return inner, title, i + 1
			}
		}
	}
	return "", "", 0
}

var (
	imageTag = lazyregexp.New(`(?i)^<img(?:[ \t\n][^<>]*)?>`)
	attrPair = lazyregexp.New(`([A-Za-z][A-Za-z0-9_:-]*)(?:[ \t\n]*=[ \t\n]*("[^"]*"|'[^']*'|[^ \t\n"'<>=]+))?`)
)

// imageOf converts an HTML image to Markdown, with its size in an attribute list. It reports attributes that Markdown
// cannot express. Without a usable address the result is "".
func (r *reader) imageOf(tag string) string {
	values := map[string]string{}
	var dropped []string
	for _, m := range attrPair.FindAllStringSubmatch(strings.TrimSuffix(strings.TrimSuffix(tag[4:], ">"), "/"), -1) {
		name, value := strings.ToLower(m[1]), html.UnescapeString(strings.Trim(m[2], `"'`))
		switch name {
		case "src", "alt", "title", "width", "height", "style":
			values[name] = strings.Join(strings.Fields(value), " ")
		default:
			dropped = append(dropped, m[0])
		}
	}
	address := values["src"]
	if address == "" || strings.ContainsAny(address, "()<> \"") && isExternal(address) {
		return ""
	}
	if at := r.file(address, false); !isExternal(address) && at != "" && !isPage(at) {
		if asset := r.asset(at); asset != "" {
			address = asset
		}
	} else if !isExternal(address) {
		r.problem(codeFileMissing, tag, "the file is not there: the link is kept as it was")
	}
	if strings.ContainsAny(address, "()<> \"") && !strings.HasPrefix(address, assetsDir+"/") {
		return ""
	}
	if len(dropped) > 0 {
		slices.Sort(dropped)
		r.problem(codeImageAttrs, strings.Join(dropped, " "), "Markdown images have no such attributes: left out")
	}
	r.markKind(asImage)
	if values["title"] != "" {
		address += ` "` + strings.ReplaceAll(values["title"], `"`, `\"`) + `"`
	}
	image := "![" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(values["alt"]) + "](" + address + ")"
	if r.row {
		image = strings.ReplaceAll(image, "|", `\|`)
	}
	return image + styleOf(values)
}

// styleOf returns the attribute list for the size of an image, "" for none.
func styleOf(values map[string]string) string {
	style := strings.TrimSuffix(strings.TrimSpace(values["style"]), ";")
	for _, name := range []string{"width", "height"} {
		value := values[name]
		if value == "" || strings.Contains(style, name) {
			continue
		}
		if strings.Trim(value, "0123456789") == "" {
			value += "px"
		}
		if style != "" {
			style += "; "
		}
		style += name + ": " + value
	}
	if style == "" || strings.ContainsAny(style, "{}\"<>&\n") {
		return ""
	}
	return `{: style="` + style + `;"}`
}
