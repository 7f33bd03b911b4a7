package folder

import (
	"path"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
)

// wikiLink reads [[page#heading|text]] at the start of text. It returns how many bytes it read and what replaces them; 0 if
// there is no link.
func (r *reader) wikiLink(text string) (int, string) {
	end := strings.Index(text, "]]")
	if end < 0 {
		return 0, ""
	}
	original, inner := text[:end+2], text[2:end]
	name, label := cutShown(inner)
	t, why := r.find(name)
	if why != "" {
		if at := r.file(name, true); at != "" && !isPage(at) {
			if asset := r.asset(at); asset != "" {
				if label == "" {
					label = path.Base(at)
				}
				return len(original), "[" + linkText(label) + "](" + asset + ")"
			}
		}
		r.problem(codeLinkMissing, original, why)
		return len(original), original
	}
	return len(original), r.reference(t, label)
}

// cutShown splits the content of double brackets at its bar. In tables the bar is escaped.
func cutShown(inner string) (name, label string) {
	name, label, _ = strings.Cut(strings.ReplaceAll(inner, `\|`, "|"), "|")
	return strings.TrimSpace(name), strings.TrimSpace(label)
}

// find resolves the name in a wiki link to a page, heading or block. If there is none, why says what is missing.
func (r *reader) find(name string) (t target, why string) {
	name, fragment, _ := strings.Cut(name, "#")
	pg := r.im.index.wiki(r.pg, name)
	if pg == nil {
		return t, "no page has this name: kept as it was"
	}
	return r.inside(pg, fragment)
}

// inside resolves the part of a link after # to a heading or block of a page. If there is none, why says so and t is the page.
func (r *reader) inside(pg *page, fragment string) (t target, why string) {
	t = target{page: pg}
	if fragment == "" {
		return t, ""
	}
	id, ok := pg.fragmentTarget(fragment)
	if !ok {
		id, ok = r.im.index.former.fragmentTarget(pg, fragment)
	}
	if !ok {
		return t, "the page has no heading or block of this name: kept as it was"
	}
	t.id = id
	return t, ""
}

// reference writes a reference to a document or block. With a label, its text is fixed; without one, it follows the
// text of the target.
func (r *reader) reference(t target, label string) string {
	id, text := t.ref(), t.text()
	if label == "" || label == text {
		return "((" + id + " '" + r.withoutBars(anchorText(text, "'", "’")) + "'))"
	}
	return "((" + id + ` "` + r.withoutBars(anchorText(label, `"`, "”")) + `"))`
}

func (r *reader) withoutBars(text string) string {
	if r.row {
		return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
	}
	return text
}

// anchorText makes a text valid between the quotes of a reference, by replacing quote with substitute.
func anchorText(text, quote, substitute string) string {
	text = strings.Join(strings.Fields(markup.Plain(text)), " ")
	text = strings.NewReplacer(quote, substitute, "))", ") )", "\\", "＼").Replace(text)
	if text == "" {
		return "*"
	}
	return text
}

// linkText returns text in a form that is valid between the brackets of a link.
func linkText(text string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(text)
}

// wikiEmbed reads ![[file]] within a line. An embedded page becomes a reference.
func (r *reader) wikiEmbed(text string) (int, string) {
	end := strings.Index(text, "]]")
	if end < 0 {
		return 0, ""
	}
	original := text[:end+2]
	name, label := cutShown(text[3:end])
	if t, why := r.find(name); why == "" {
		return len(original), r.reference(t, label)
	} else if r.im.index.wiki(r.pg, strings.SplitN(name, "#", 2)[0]) != nil {
		r.problem(codeLinkMissing, original, why)
		return len(original), original
	}
	file, fragment, _ := strings.Cut(name, "#")
	at := r.file(file, true)
	if at == "" || isPage(at) {
		r.problem(codeFileMissing, original, "no file has this name: kept as it was")
		return len(original), original
	}
	asset := r.asset(at)
	if asset == "" {
		return len(original), original
	}
	if !isImage(at) {
		if page, found := strings.CutPrefix(fragment, "page="); found && page != "" {
			asset += "?page=" + page
		}
		if label == "" {
			label = path.Base(at)
		}
		return len(original), "[" + linkText(label) + "](" + asset + ")"
	}
	alt, style := imageSize(label, stem(at))
	return len(original), "![" + linkText(alt) + "](" + asset + ")" + style
}

// size matches the width, or width and height, of an embedded image.
var size = lazyregexp.New(`^(\d{1,5})(?:x(\d{1,5}))?$`)

// imageSize splits the text after the bar of an embedded image into alternative text and the attribute list with its
// width.
func imageSize(label, name string) (alt, style string) {
	alt = name
	for part := range strings.SplitSeq(label, "|") {
		if m := size.FindStringSubmatch(part); m != nil {
			style = `{: style="width: ` + m[1] + `px;"}`
		} else if part != "" {
			alt = part
		}
	}
	return alt, style
}

func isImage(at string) bool {
	switch strings.ToLower(path.Ext(at)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".avif", ".tif", ".tiff", ".jfif", ".apng":
		return true
	}
	return false
}

// embedQuery returns the block that shows another block.
func embedQuery(id string) string { return "{{select * from blocks where id='" + id + "'}}" }

// ref returns the id of a target.
func (t target) ref() string {
	if t.id != "" {
		return t.id
	}
	return t.page.id
}
