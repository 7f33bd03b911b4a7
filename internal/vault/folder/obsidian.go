package folder

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// obsidianWriter writes blocks in the Markdown of Obsidian: references become wiki links, tags have one number sign,
// and blocks that something refers to have a ^name.
type obsidianWriter struct {
	// link returns what stands between the brackets of a wiki link to a block or document, without a label; "" if no
	// link leads there.
	link func(id string) string
	// shown returns the text that a reference to a block or document shows if it follows its target.
	shown func(id string) string
	// asset returns the path of an asset, relative to the file; "" if the folder does not have it.
	asset func(address string) string
	// anchor returns the ^name of a block, "" for none.
	anchor func(id string) string
	// keepID reports whether a block keeps its id in an attribute list, since no ^name can name it. Only with exact.
	keepID func(id string) bool
	// exact keeps what Obsidian has no word for in the form of SiYuan, which is read back; else it is left out.
	exact bool
	// lost is called for what was left out or is only approximately the same.
	lost func(what string)
}

// blocks writes blocks that are siblings, with blank lines between them.
func (w *obsidianWriter) blocks(list []*tree.Block) string {
	parts := make([]string, 0, len(list))
	for _, b := range list {
		if text := w.block(b); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// block writes one block at the top of a document.
func (w *obsidianWriter) block(b *tree.Block) string {
	if b.Kind == tree.Super && !w.exact {
		w.lost("a layout of columns or rows")
		return w.blocks(b.Children)
	}
	c := b.Clone()
	c.Parent = b.Parent
	w.prepare(c, b)
	text := strings.Trim(markup.Kramdown(c), "\n")
	// Paragraphs and headings have their ^name in the text, see prepare. Below others it is a line of its own.
	if name := w.anchor(b.ID); name != "" && b.Kind != tree.Paragraph && b.Kind != tree.Heading {
		text += "\n\n^" + name
	}
	return text
}

// prepare changes a clone of a block, and all below it, into what Obsidian reads. original is the block in its
// document.
func (w *obsidianWriter) prepare(c, original *tree.Block) {
	c.Attrs = w.attrs(c.Attrs, original)
	switch c.Kind {
	case tree.Paragraph, tree.Heading, tree.Table:
		c.Text = w.inline(c.Text, c.Kind == tree.Table)
		if c.Kind == tree.Table {
			if laid := markup.Parse(c.Text); len(laid) == 1 && laid[0].Kind == tree.Table {
				c.Text = laid[0].Text
			}
		}
	case tree.Embed:
		c.Text = w.embed(c.Text)
	case tree.Callout:
		if _, title := tree.CutCallout(c.Marker); title != "" {
			c.Marker = strings.TrimSuffix(c.Marker, title) + w.inline(title, false)
		}
	case tree.Code, tree.Math, tree.Database:
	default:
		if !c.Container() {
			c.Text = w.addresses(c.Text)
		}
	}
	name := w.anchor(original.ID)
	switch {
	case name == "":
	case c.Kind == tree.Paragraph && !strings.HasSuffix(c.Text, "\\"), c.Kind == tree.Heading:
		if original.Parent == nil || original.Parent.Kind != tree.Item || original.Index() > 0 {
			c.Text += " ^" + name
		}
	}
	for i, child := range c.Children {
		w.prepare(child, original.Children[i])
		if c.Kind == tree.Item && i == 0 && child.Kind == tree.Paragraph && name != "" {
			first, rest, more := strings.Cut(child.Text, "\n")
			child.Text = strings.TrimRight(first, " ") + " ^" + name
			if more {
				child.Text += "\n" + rest
			}
		}
	}
}

// attrs returns the attributes with which a block is written, nil for none.
func (w *obsidianWriter) attrs(attrs map[string]string, original *tree.Block) map[string]string {
	kept := map[string]string{}
	for name, value := range attrs {
		if !isUsageAttr(name) && value != "" && !(original.Kind == tree.Table && name == "colgroup" && strings.Trim(value, "|") == "") {
			kept[name] = value
		}
	}
	if len(kept) > 0 && !w.exact {
		w.lost("attributes of a block: " + strings.Join(slices.Sorted(maps.Keys(kept)), ", "))
		return nil
	}
	if len(kept) == 0 && !(w.exact && (w.keepID(original.ID) || original.Parent != nil && needsAttrList(original))) {
		return nil
	}
	kept["id"] = original.ID
	return kept
}

// embed writes a block that shows others.
func (w *obsidianWriter) embed(text string) string {
	if id := idInText.FindString(text); id != "" && text == embedQuery(id) {
		if link := w.link(id); link != "" {
			return "![[" + link + "]]"
		}
	}
	if !w.exact {
		w.lost("a query")
		return "```sql\n" + strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}") + "\n```"
	}
	return text
}

// anyAddress matches the address of an asset in quotes.
var anyAddress = lazyregexp.New(`(["'])(assets/[^"'\n]+)(["'])`)

// addresses changes the addresses of assets in HTML.
func (w *obsidianWriter) addresses(text string) string {
	if !strings.Contains(text, "assets/") {
		return text
	}
	return anyAddress.ReplaceAllStringFunc(text, func(m string) string {
		if to := w.asset(m[1 : len(m)-1]); to != "" {
			return m[:1] + to + m[len(m)-1:]
		}
		return m
	})
}

// inline writes the text of a leaf. inTable says that it is a table, in which bars inside of cells are escaped.
func (w *obsidianWriter) inline(text string, inTable bool) string {
	if !strings.ContainsAny(text, "(#[<{%") {
		return text
	}
	var out strings.Builder
	spans := markup.Spans(text)
	for i, s := range spans {
		next := ""
		if i+1 < len(spans) {
			next = spans[i+1].Markdown
		}
		out.WriteString(w.span(s, out.String(), next, inTable))
	}
	return out.String()
}

// span writes one span of a text. before is what was written of the text so far, next the Markdown of the next span.
// inTable is as for inline.
func (w *obsidianWriter) span(s markup.Span, before, next string, inTable bool) string {
	switch s.Kind {
	case "block-ref":
		return w.reference(s, inTable)
	case "tag":
		if name := s.Content; isObsidianTag(name) && !startsWithTagRune(next) && endsBeforeTag(before) {
			return "#" + name
		}
		if !w.exact {
			w.lost("a tag: #" + s.Content + "#")
			return "#" + strings.Map(func(r rune) rune {
				if tagRune(r) {
					return r
				}
				return '-'
			}, s.Content)
		}
	case "a", "img":
		if address, tail := cutAddress(s.Target); strings.HasPrefix(address, "assets/") {
			if to := w.asset(address); to != "" {
				return strings.Replace(s.Markdown, "]("+s.Target, "]("+to+tail, 1)
			}
		}
		if id, found := strings.CutPrefix(s.Target, "siyuan://blocks/"); found && s.Kind == "a" && !w.exact {
			if link := w.link(id); link != "" {
				return labeledLink(link, s.Content, inTable)
			}
		}
	case "":
		return w.plain(s.Markdown, before)
	}
	return s.Markdown
}

// cutAddress splits an address from its query or fragment.
func cutAddress(target string) (address, tail string) {
	if at := strings.IndexAny(target, "?#"); at >= 0 {
		return target[:at], target[at:]
	}
	return target, ""
}

// plain writes plain text, with a backslash before what would be read as a tag.
func (w *obsidianWriter) plain(text, before string) string {
	if !w.exact || !strings.Contains(text, "#") {
		return text
	}
	r := &reader{pg: &page{}}
	all := before + text
	var out strings.Builder
	for i := len(before); i < len(all); i++ {
		if all[i] == '\\' && i+1 < len(all) {
			out.WriteString(all[i : i+2])
			i++
			continue
		}
		if all[i] == '#' {
			if n, _ := r.ownTag(all, i); n > 0 {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(all[i])
	}
	return out.String()
}

// isObsidianTag reports whether Obsidian reads # and this name as a tag. It must not be
// digits alone, hyphens and slashes alone, or end in a slash.
func isObsidianTag(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !tagRune(r) }) < 0 && strings.Trim(name, "0123456789") != "" &&
		strings.Trim(name, "-_/") != "" && !strings.HasSuffix(name, "/")
}

// startsWithTagRune reports whether a text would continue a tag that ends right before it.
func startsWithTagRune(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n > 0 && (tagRune(r) || r == '#')
}

// endsBeforeTag reports whether a tag may follow a text.
func endsBeforeTag(text string) bool {
	if text == "" {
		return true
	}
	r := &reader{pg: &page{}}
	n, _ := r.ownTag(text+"#a", len(text))
	return n > 0
}

// noLabel matches what must not be in the label of a wiki link.
var noLabel = lazyregexp.New(`[\[\]|\n]`)

// labeledLink returns a wiki link that shows label. In a table its bars are escaped, since a bare one would begin a new cell.
func labeledLink(link, label string, inTable bool) string {
	if inTable {
		return "[[" + link + `\|` + strings.ReplaceAll(label, "|", `\|`) + "]]"
	}
	return "[[" + link + "|" + label + "]]"
}

// reference writes a reference to a block as a wiki link. inTable is as for inline.
func (w *obsidianWriter) reference(s markup.Span, inTable bool) string {
	link, shown := w.link(s.Target), w.shown(s.Target)
	dynamic := s.Subtype == "d"
	switch {
	case link == "" && w.exact:
		return s.Markdown
	case link == "":
		w.lost("a reference to " + s.Content)
		return s.Content
	case dynamic && w.exact:
		return "[[" + link + "]]"
	case dynamic && s.Content == shown && !strings.Contains(link, "#"):
		return "[[" + link + "]]"
	case noLabel.MatchString(s.Content), s.Content == shown && w.exact, strings.TrimSpace(s.Content) != s.Content, s.Content == "":
		if w.exact {
			return s.Markdown
		}
		return "[[" + link + "]]"
	}
	return labeledLink(link, s.Content, inTable)
}

// notInLink matches what must not be in the name of a wiki link.
var notInLink = regexp.MustCompile(`[\[\]|#^\n\\]`)

// encodeAddress writes a path as the address of a link.
func encodeAddress(at string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "%0A", "\"", "%22", "#", "%23", "?", "%3F").Replace(at)
}

// relativeTo returns the path of a file relative to the folder of another.
func relativeTo(from, to string) string {
	dir := strings.Split(from, "/")
	dir = dir[:len(dir)-1]
	parts := strings.Split(to, "/")
	for len(dir) > 0 && len(parts) > 1 && dir[0] == parts[0] {
		dir, parts = dir[1:], parts[1:]
	}
	return strings.Repeat("../", len(dir)) + strings.Join(parts, "/")
}

// headingNames returns the headings of a document's blocks, as links write them: ids by key, and the text by id. Of
// equal headings the first counts.
func headingNames(root *tree.Block) (ids, texts map[string]string) {
	ids, texts = map[string]string{}, map[string]string{}
	root.Walk(func(b *tree.Block) {
		if b.Kind != tree.Heading {
			return
		}
		text := strings.TrimSpace(strings.TrimLeft(b.Text, "#"))
		if plain := headingPlain(text); headingKey(plain) != "" && ids[headingKey(plain)] == "" {
			ids[headingKey(plain)] = b.ID
			texts[b.ID] = plain
		}
	})
	return ids, texts
}

// headingPlain returns the text of a heading as it is shown.
func headingPlain(text string) string {
	var out strings.Builder
	for _, s := range markup.Spans(text) {
		out.WriteString(s.Content)
	}
	return strings.Join(strings.Fields(strings.NewReplacer("#", " ", "|", " ", "[", " ", "]", " ", "^", " ").Replace(out.String())), " ")
}

// anchorName returns a name for a block that has none yet.
func anchorName(id string, taken func(name string) bool) string {
	if name := id[strings.LastIndexByte(id, '-')+1:]; name != "" && !taken(name) {
		return name
	}
	return id
}

// obsidianFront writes the front matter of a document as Obsidian has it, "" for none. title is the title of the document if
// the name of the file is another one, else "". old is the YAML that the file has now: the lines of keys whose values are the same stay.
func obsidianFront(attrs map[string]string, title, old string) string {
	want := map[string]string{}
	for name, value := range attrs {
		if !reservedAttr(name) && value != "" && !isUsageAttr(name) {
			want[name] = value
		}
	}
	properties := propertiesOf(want[propertiesAttr])
	if properties != nil {
		delete(want, propertiesAttr)
	}
	var out strings.Builder
	hasTitle := title == ""
	for _, entry := range frontEntries(old) {
		f, err := parseFront(entry, func(int, string, string) {})
		if err != nil || f.id != "" {
			continue
		}
		same := true
		for name, value := range f.attrs {
			same = same && (want[name] == value || value == "" && want[name] == "")
		}
		for key, value := range f.properties {
			same = same && (properties[key] == value || value == "")
		}
		if f.title != "" {
			if f.title != title && title != "" {
				if !hasTitle {
					out.WriteString("title: " + yamlScalar(title) + "\n")
				}
				hasTitle = true
				continue
			}
			hasTitle = true
		}
		if !same {
			// The new value takes the place of the old one.
			for _, name := range slices.Sorted(maps.Keys(f.attrs)) {
				if value, ok := want[name]; ok {
					out.WriteString(frontLine(name, value, entry))
					delete(want, name)
				}
			}
			for key := range f.properties {
				if value, ok := properties[key]; ok {
					out.WriteString(yamlKey(key) + ": " + yamlScalar(value) + "\n")
					delete(properties, key)
				}
			}
			continue
		}
		for name := range f.attrs {
			delete(want, name)
		}
		for key := range f.properties {
			delete(properties, key)
		}
		out.WriteString(entry)
	}
	if !hasTitle {
		out.WriteString("title: " + yamlScalar(title) + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		out.WriteString(frontLine(name, want[name], ""))
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if ownKey(key) {
			out.WriteString(yamlKey(key) + ": " + yamlScalar(properties[key]) + "\n")
			delete(properties, key)
		}
	}
	if len(properties) > 0 {
		out.WriteString(propertiesAttr + ": " + yamlScalar(mustJSON(properties)) + "\n")
	}
	if out.Len() == 0 {
		return ""
	}
	return "---\n" + out.String() + "---\n"
}

// frontLine writes an attribute as a line of front matter. old is the entry that it replaces, "" for none: its key
// stays.
func frontLine(name, value, old string) string {
	key, _, _ := strings.Cut(old, ":")
	switch name {
	case "tags", "alias":
		if key == "" {
			key = map[string]string{"tags": "tags", "alias": "aliases"}[name]
		}
		return key + ": " + yamlList(value) + "\n"
	}
	if key != "" {
		return key + ": " + yamlScalar(value) + "\n"
	}
	if plain, found := strings.CutPrefix(name, "custom-"); found && attrOfKey(plain) == name {
		return yamlKey(plain) + ": " + yamlScalar(value) + "\n"
	}
	if attrOfKey(name) == name {
		return yamlKey(name) + ": " + yamlScalar(value) + "\n"
	}
	return "attributes:\n  " + yamlKey(name) + ": " + yamlScalar(value) + "\n"
}

// attrOfKey returns the attribute that a key of front matter becomes, "" if it has another meaning.
func attrOfKey(key string) string {
	f, err := parseFront(yamlKey(key)+": x y\n", func(int, string, string) {})
	if err != nil || len(f.attrs) != 1 {
		return ""
	}
	for name := range f.attrs {
		return name
	}
	return ""
}

// frontKey matches a line of YAML that begins with a key at the top level.
var frontKey = lazyregexp.New(`^[^\s#\-][^:]*:(?:\s|$)|^["'][^"']+["']\s*:`)

// frontEntries splits YAML into its keys at the top, each with all its lines and the comments above it.
func frontEntries(yamlText string) (entries []string) {
	var current strings.Builder
	hasKey := false
	for line := range strings.Lines(yamlText) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		if frontKey.MatchString(line) {
			if hasKey {
				entries = append(entries, current.String())
				current.Reset()
			}
			hasKey = true
		}
		current.WriteString(line)
	}
	if current.Len() > 0 {
		entries = append(entries, current.String())
	}
	return entries
}
