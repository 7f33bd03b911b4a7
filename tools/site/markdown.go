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

// languageLine is the link from a document to its twin, which the frame has.
var languageLine = regexp.MustCompile(`(?m)^\[(English|中文)\]\([^)]*\)( · |\n)`)

// noHead is the head of a column that has none, for those who hear the page.
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

// slug is the anchor of a heading: its letters and digits in lower case, with - for spaces. Marks of code and stress fall away
// with all other signs.
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

// render reads a document: its title, headings, sections, and its body with links as they are written.
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

// chinese reports whether the letters on both sides of the end of a line are Chinese, which has no spaces.
func chinese(source []byte, end int) bool {
	before, _ := utf8.DecodeLastRune(bytes.TrimRight(source[:end], " "))
	after, _ := utf8.DecodeRune(bytes.TrimLeft(source[end:], " \n>"))
	return before >= '\u2e80' && after >= '\u2e80'
}

// plain is the text of a node without its marks.
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

// textOf is what a block or a piece of HTML is made of.
func textOf(n ast.Node, source []byte) []byte {
	if raw, ok := n.(*ast.RawHTML); ok {
		return raw.Segments.Value(source)
	}
	return n.Lines().Value(source)
}

// rewrite has links between documents lead to pages, and keeps them for [site.resolve].
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

// target is where a link of a document leads on the site. Links within the repository are to documents, headings, folders with a README, and pictures.
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
		// A page that is there in both languages is meant in that of its heading, or in the one that is named.
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

// twinOf is the file that has a document in the other language, whether it is there or not.
func twinOf(file string) string {
	if english, ok := strings.CutSuffix(file, ".zh-CN.md"); ok {
		return english + ".md"
	}
	return strings.TrimSuffix(file, ".md") + ".zh-CN.md"
}

// resolve holds the links of a document against the headings that they name.
func (s *site) resolve(d *document) {
	for _, r := range d.refs {
		if r.anchor != "" && !slices.ContainsFunc(r.to.headings, func(h heading) bool { return h.ID == r.anchor }) {
			s.wrong(d.file, "the link %s: %s has no such heading", r.written, r.to.file)
		}
	}
}
