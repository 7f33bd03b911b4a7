package folder

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// This file has what is special about folders that Logseq wrote; see [foreignProgram].

var (
	property   = lazyregexp.New(`^[ \t]*([\p{L}\p{N}_][\p{L}\p{N}_./-]*)::(?:[ \t]+(.*))?$`)
	taskWord   = lazyregexp.New(`^(TODO|LATER|WAITING|WAIT|NOW|DOING|IN-PROGRESS|DONE|CANCELED|CANCELLED)(?:[ \t]+|$)`)
	bullet     = lazyregexp.New(`[-*+][ \t]*$`)
	embedMacro = lazyregexp.New(`^\{\{embed[ \t]+(?:\(\(([0-9A-Fa-f-]{36})\)\)|\[\[([^\]]+)\]\])[ \t]*\}\}$`)
)

const logseqConfig = "logseq/config.edn"

// isLogseq reports whether the folder is a Logseq graph. Notes of days in journals/ alone do not make one: others have
// such a folder too.
func (s *source) isLogseq() bool {
	if _, err := s.root.Stat(logseqConfig); err == nil {
		return true
	}
	if _, err := s.root.Stat(".obsidian"); err == nil {
		return false
	}
	journals, pages := false, false
	for at := range s.files {
		switch dir := path.Dir(at); {
		case !isPage(at):
		case dir == "journals":
			journals = journals || journalName.MatchString(stem(at))
		case dir == "pages":
			pages = true
		}
	}
	return journals && pages
}

// placeLogseq sets the name and folder of a Logseq page. The namespaces in its name become folders; a journal goes
// where new notebooks keep daily notes.
func placeLogseq(pg *page) bool {
	switch path.Dir(pg.file) {
	case "pages":
		name := strings.ReplaceAll(pg.name, "___", "/")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		name = path.Clean("/" + name)[1:]
		if name == "" {
			return false
		}
		pg.name, pg.dir = path.Base(name), name
		pg.front.aliases = append(pg.front.aliases, name)
	case "journals":
		m := journalName.FindStringSubmatch(pg.name)
		if m == nil {
			return false
		}
		pg.name = m[1] + "-" + m[2] + "-" + m[3]
		pg.dir = "daily note/" + m[1] + "/" + m[2] + "/" + pg.name
		day, err := time.Parse("2006-01-02", pg.name)
		if err != nil {
			return false
		}
		pg.front.aliases = append(pg.front.aliases, pg.name, m[1]+"_"+m[2]+"_"+m[3], m[1]+"/"+m[2]+"/"+m[3],
			day.Format("Jan ")+ordinal(day.Day())+day.Format(", 2006"), day.Format("January 2, 2006"), day.Format("2006年01月02日"))
	default:
		return false
	}
	return true
}

// ordinal returns the English ordinal of a day: 1st, 2nd, 3rd, 11th.
func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// pageProperties removes the properties of a page, the lines "key:: value" at its top, from its text and stores them
// in f.
func pageProperties(f *frontMatter, body string) (rest string, lines int) {
	rest = body
	for {
		first, remaining, _ := strings.Cut(rest, "\n")
		text := first
		if lines == 0 || strings.HasPrefix(first, "  ") { // they may belong to a first bullet
			text = strings.TrimPrefix(first, "- ")
		}
		m := property.FindStringSubmatch(text)
		if m == nil || m[1] == "id" || m[1] == "collapsed" {
			break
		}
		value := strings.TrimSpace(m[2])
		if name := strings.ToLower(m[1]); name == "tags" || name == "alias" || name == "title" {
			value = strings.NewReplacer("[[", "", "]]", "").Replace(value)
		}
		key := m[1]
		if key == "tags" { // only commas separate tags here
			f.tags = append(f.tags, split(nil, value, ",")...)
			f.attrs["tags"] = strings.Join(f.tags, ",")
		} else {
			f.setText(key, value)
		}
		rest, lines = remaining, lines+1
		if remaining == "" {
			break
		}
	}
	return rest, lines
}

// logseqLine writes a line of an outline, with its task, and with the properties below it as attributes. It returns false
// if the line has nothing that is special to Logseq.
func (w *writer) logseqLine(prefix, rest string) bool {
	if m := queryBegin.FindStringSubmatch(rest); m != nil {
		w.markKind(asCode)
		return w.orgBlock(prefix, rest, m)
	}
	if strings.HasPrefix(rest, "{{") {
		if w.macro(prefix, rest) {
			return true
		}
	}
	if marks := strings.Fields(strings.ReplaceAll(prefix, ">", " ")); len(marks) > 1 && strings.Contains("-*+", marks[0]) { // a bullet's text is text here
		at := strings.LastIndex(strings.TrimRight(prefix, " "), " ")
		for range marks[2:] {
			at = strings.LastIndex(strings.TrimRight(prefix[:at], " "), " ")
		}
		prefix, rest = prefix[:at+1], escapedMark(strings.TrimLeft(prefix[at+1:], " "))+rest
		w.markKind(asLayout)
	}
	if !bullet.MatchString(prefix) {
		return false
	}
	attrs := w.properties()
	if m := property.FindStringSubmatch(rest); m != nil { // "- key:: value"
		if w.attribute(attrs, m[1], m[2]) {
			w.markKind(asAttribute)
			rest = ""
		}
	}
	if m := taskWord.FindStringSubmatch(rest); m != nil {
		box := "[ ] "
		switch m[1] {
		case "DONE":
			box = "[X] "
		case "CANCELED", "CANCELLED":
			box = "[-] "
		}
		w.markKind(asTask)
		rest = box + rest[len(m[0]):]
	}
	switch {
	case heading.MatchString(rest):
		if len(attrs) > 0 {
			prefix += tree.IAL(attrs)
		}
		w.heading(prefix, rest)
	case rest == "" && len(attrs) > 0:
		// An attribute list alone in an item would be taken for that of the list below, so an empty paragraph follows
		// it.
		created, _ := w.pg.stamps()
		w.writeLines(strings.TrimRight(prefix, " ") + " " + tree.IAL(attrs) + tree.IAL(map[string]string{"id": w.im.newID(created)}))
	default:
		w.text(prefix, w.joinedText(rest), attrs)
	}
	return true
}

// escapedMark returns the mark of an item as text.
func escapedMark(mark string) string {
	if isDigit(mark[0]) {
		end := strings.IndexAny(mark, ".)")
		return mark[:end] + `\` + mark[end:]
	}
	return `\` + mark
}

// properties removes the lines "key:: value" below a bullet and returns them as attributes.
func (w *writer) properties() map[string]string {
	attrs := map[string]string{}
	for w.next < len(w.in) && !w.in[w.next].code {
		text := w.in[w.next].text
		m := property.FindStringSubmatch(text)
		if m == nil || text == strings.TrimLeft(text, " \t") || !w.attribute(attrs, m[1], m[2]) {
			break
		}
		w.markKind(asAttribute)
		w.next++
	}
	return attrs
}

// attribute stores a property of a block. It returns false if its name is not valid for an attribute, or the block has
// another value under it: then it stays text.
func (w *writer) attribute(attrs map[string]string, key, value string) bool {
	value = strings.TrimSpace(value)
	name := strings.ToLower(strings.NewReplacer("_", "-", "/", "-", ".", "-").Replace(key))
	switch {
	case name == "id":
		if id := w.pg.anchors[foldName(value)]; id != "" && w.claimID(id) {
			attrs["id"] = id
		}
		return true
	case name == "collapsed":
		if value == "true" {
			attrs["fold"] = "1"
		}
		return true
	case value == "":
		return true
	case name == "alias" || name == "memo" || name == "bookmark":
	default:
		name = "custom-" + strings.TrimPrefix(name, "custom-")
	}
	if !attrName.MatchString(name) {
		return false
	}
	if earlier, exists := attrs[name]; exists && earlier != value {
		return false // two keys that are one attribute here
	}
	attrs[name] = value
	return true
}

// macro writes a line that is {{embed ...}} as a block that shows another one, and other macros as code.
func (w *writer) macro(prefix, rest string) bool {
	rest = strings.TrimRight(rest, " \t")
	if !strings.HasSuffix(rest, "}}") || strings.Contains(rest[2:len(rest)-2], "}}") {
		return false
	}
	if t, ok := w.logseqEmbed(rest); ok {
		w.markKind(asEmbed)
		w.block(prefix, embedQuery(t.ref()))
		return true
	}
	w.markKind(asCode)
	w.writeLines(prefix + "`" + rest + "`")
	return true
}

// logseqEmbed returns what {{embed ...}} shows, and reports what cannot be shown.
func (r *reader) logseqEmbed(text string) (t target, ok bool) {
	m := embedMacro.FindStringSubmatch(text)
	if m == nil {
		r.problem(codeQuery, text, "queries and macros of Logseq do not work here: kept as code")
		return t, false
	}
	if m[1] != "" {
		t, ok = r.im.index.byUUID[foldName(m[1])]
	} else {
		pg := r.im.index.wiki(r.pg, m[2])
		t, ok = target{page: pg}, pg != nil
	}
	if !ok {
		r.problem(codeLinkMissing, text, "what it embeds is not there: kept as code")
	}
	return t, ok
}

// orgBlock writes a block between #+BEGIN_ and #+END_ as code.
func (w *writer) orgBlock(prefix, rest string, m []string) bool {
	end := w.next
	for end < len(w.in) && !queryEnd.MatchString(strings.TrimSpace(w.in[end].text)) {
		end++
	}
	if end == len(w.in) {
		return false
	}
	info := strings.ToLower(m[2])
	if strings.EqualFold(m[1], "query") {
		info = "clojure"
		w.problem(codeQuery, rest, "queries of Logseq do not work here: kept as code")
	}
	pad := continuationPrefix(prefix)
	deep, fence := columns(prefix), "```"
	for _, l := range w.in[w.next:end] {
		for strings.Contains(l.text, fence) {
			fence += "`"
		}
	}
	w.writeLines(prefix + fence + info)
	for _, l := range w.in[w.next:end] {
		w.line = l.n
		text := expandTabs(l.text, deep)
		w.writeLines(strings.TrimRight(pad+text[min(len(text)-len(strings.TrimLeft(text, " ")), deep):], " "))
	}
	w.line = w.in[end].n
	w.writeLines(pad + fence)
	w.next = end + 1
	return true
}
