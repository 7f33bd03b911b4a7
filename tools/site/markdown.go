package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// This file converts the Markdown of a document to HTML and checks its links.

// languageLine matches the link from a document to its translation. It is left out, because every page of the site has such
// a link in its frame.
var languageLine = regexp.MustCompile(`(?m)^\[(English|中文)\]\([^)]*\)( · |\n)`)

// noHead matches an empty heading of a table column. It becomes a plain cell, so that screen readers announce no heading.
var noHead = regexp.MustCompile(`<th([^>]*)></th>`)

// slugs gives headings the anchors that GitHub gives them.
type slugs map[string]int

// Generate implements [parser.IDs].
func (s slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := slug(string(value))
	n := s[id]
	s[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements [parser.IDs].
func (s slugs) Put(value []byte) { s[string(value)]++ }

// slug returns the anchor of a heading: its letters and digits in lower case, with - for spaces. All other characters, such
// as marks of code and emphasis, are left out.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// render reads a document: its title, headings, sections, and its body as HTML, in which links lead to pages of the site.
func (s *site) render(d *document) {
	raw, err := fs.ReadFile(s.root, d.file)
	if err != nil {
		s.wrong(d.file, "%v", err)
		return
	}
	source := languageLine.ReplaceAll(raw, nil)
	root := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(slugs{}))))
	here := &section{}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			h := heading{n.Level, string(name), plain(n, source)}
			d.headings = append(d.headings, h)
			if d.title == "" {
				d.title = h.Text
			}
			d.sections = append(d.sections, section{id: h.ID, heading: h.Text})
			here = &d.sections[len(d.sections)-1]
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML, *ast.HTMLBlock:
			s.wrong(d.file, "HTML in a document would be left out: %.60q", bytes.TrimSpace(textOf(n, source)))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			here.text += " " + string(textOf(n, source))
		case *ast.Text:
			here.text += string(n.Segment.Value(source))
			if n.SoftLineBreak() && chinese(source, n.Segment.Stop) {
				n.SetSoftLineBreak(false)
			} else if n.SoftLineBreak() {
				here.text += " "
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.ListItem:
			here.text += " "
		}
		if n.Kind().String() == "TableCell" {
			here.text += " "
		}
		return ast.WalkContinue, nil
	})
	if d.title == "" {
		s.wrong(d.file, "it has no heading")
	}
	var out bytes.Buffer
	s.rewrite(d, root)
	if err := markdown.Renderer().Render(&out, source, root); err != nil {
		s.wrong(d.file, "%v", err)
	}
	// Wide tables and listings scroll by themselves, and are reached with the keyboard.
	body := strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`).Replace(out.String())
	d.body = template.HTML(noHead.ReplaceAllString(body, "<td$1></td>"))
}

// chinese reports whether the characters on both sides of a line break are Chinese. Then the break does not become a space.
func chinese(source []byte, end int) bool {
	before, _ := utf8.DecodeLastRune(bytes.TrimRight(source[:end], " "))
	after, _ := utf8.DecodeRune(bytes.TrimLeft(source[end:], " \n>"))
	return before >= '\u2e80' && after >= '\u2e80'
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// textOf returns the source text of a block, or of HTML inside a paragraph.
func textOf(n ast.Node, source []byte) []byte {
	if raw, ok := n.(*ast.RawHTML); ok {
		return raw.Segments.Value(source)
	}
	return n.Lines().Value(source)
}

// rewrite makes links between documents lead to pages, and records them for [site.resolve].
func (s *site) rewrite(d *document, root ast.Node) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(s.target(d, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(s.target(d, string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// target returns where a link of a document leads on the site. A link within the repository may lead to a document, a
// heading, a folder with a README, or a picture, which is copied to the site. Any other is reported as wrong.
func (s *site) target(d *document, to string) string {
	if regexp.MustCompile(`^(https?|mailto):`).MatchString(to) {
		return to
	}
	at, err := url.Parse(to)
	if err != nil || at.Scheme != "" || at.Host != "" || strings.HasPrefix(at.Path, "/") || to == "" {
		s.wrong(d.file, "a link to %q", to)
		return to
	}
	if at.Path == "" {
		d.refs = append(d.refs, ref{to, d, at.Fragment})
		return to
	}
	file := path.Join(path.Dir(d.file), at.Path)
	if info, err := fs.Stat(s.root, file); err == nil && info.IsDir() {
		file = path.Join(file, "README.md")
	}
	up := strings.Repeat("../", strings.Count(d.page, "/"))
	if other := s.byFile[file]; other != nil {
		d.refs = append(d.refs, ref{to, other, at.Fragment})
		out := up + other.page
		// A page that exists in both languages is in both folders. The link names a language if the file that it leads to has
		// another one than this document. It also does so if it has an anchor and this document is shown in both languages,
		// because the anchor exists in one language only.
		both := s.byFile[twinOf(other.file)] != nil
		if both && (other.lang != d.lang || at.Fragment != "" && s.byFile[twinOf(d.file)] == nil) {
			out = up + "../" + other.lang + "/" + other.page
		}
		if at.Fragment != "" {
			out += "#" + at.EscapedFragment()
		}
		return out
	}
	if !slices.Contains([]string{".png", ".svg", ".jpg"}, path.Ext(file)) {
		s.wrong(d.file, "the link %s leads to %s, which is not a document", to, file)
		return to
	}
	name := "pictures/" + path.Base(file)
	if err := s.copy(file, name); err != nil {
		s.wrong(d.file, "the link %s: %v", to, err)
	}
	return up + "../" + name
}

// twinOf returns the path that the translation of a document has, whether or not it exists.
func twinOf(file string) string {
	if english, ok := strings.CutSuffix(file, ".zh-CN.md"); ok {
		return english + ".md"
	}
	return strings.TrimSuffix(file, ".md") + ".zh-CN.md"
}

// resolve reports the links of a document that name a heading which does not exist.
func (s *site) resolve(d *document) {
	for _, r := range d.refs {
		if r.anchor != "" && !slices.ContainsFunc(r.to.headings, func(h heading) bool { return h.ID == r.anchor }) {
			s.wrong(d.file, "the link %s: %s has no such heading", r.written, r.to.file)
		}
	}
}
