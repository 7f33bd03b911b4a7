package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed page.html choose.html style.css site.js
var own embed.FS

// A document is one Markdown file of the repository, in one language.
type document struct {
	file string // below the root
	page string // what it becomes, below the folder of its language
	lang string // "en" or "zh"

	title    string
	body     template.HTML
	headings []heading
	sections []section
	refs     []ref
}

// A ref is a link from one document to another, or within one.
type ref struct {
	written string
	to      *document
	anchor  string // "" is the page itself
}

type heading struct {
	Level    int
	ID, Text string
}

// A section is what a search finds: a heading with the text below it.
type section struct{ id, heading, text string }

// shelves are the parts of the menu, with their names in both languages.
var shelves = []struct {
	en, zh string
	under  func(page string) bool
}{
	{"Guides", "指南", func(page string) bool { return strings.HasPrefix(page, "guide/") }},
	{"Reference", "参考", func(page string) bool {
		return strings.HasPrefix(page, "reference/") && !strings.HasPrefix(page, "reference/siyuan/")
	}},
	{"Tools for notes", "笔记工具", func(page string) bool { return strings.HasPrefix(page, "reference/siyuan/") }},
	{"Contributing", "参与开发", func(page string) bool {
		return !strings.Contains(page, "/") && page != "index.html" || page == "adr/index.html" || strings.HasPrefix(page, "bench/")
	}},
}

// A site holds all documents, and the files that are made from them.
type site struct {
	root     fs.FS
	version  string
	docs     []*document
	byFile   map[string]*document
	problems []error
	files    map[string][]byte
}

// Build returns the files of the site by their paths. root is the repository; version stands at the foot of each page. The
// error joins all problems: links that lead nowhere, HTML in a document, which would be left out, and guides without a
// translation.
func Build(root fs.FS, version string) (map[string][]byte, error) {
	s := &site{root: root, version: version, byFile: map[string]*document{}, files: map[string][]byte{}}
	if err := s.find(); err != nil {
		return nil, err
	}
	for _, d := range s.docs {
		s.render(d)
	}
	for _, d := range s.docs {
		s.resolve(d)
	}
	if err := s.api(); err != nil {
		return nil, err
	}
	s.order()
	for _, lang := range []string{"en", "zh"} {
		s.twins(lang)
		if err := s.write(lang); err != nil {
			return nil, err
		}
		s.files["search-"+lang+".js"] = s.index(lang)
	}
	for _, name := range []string{"style.css", "site.js"} {
		s.files[name], _ = own.ReadFile(name)
	}
	s.files["index.html"], _ = own.ReadFile("choose.html")
	if err := s.copy("web/src/icon.svg", "icon.svg"); err != nil {
		return nil, err
	}
	return s.files, errors.Join(s.problems...)
}

// wrong records a problem with a document.
func (s *site) wrong(file, format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf("%s: %s", file, fmt.Sprintf(format, args...)))
}

// find lists the documents of the repository.
func (s *site) find() error {
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "bench/*.md"} {
		found, err := fs.Glob(s.root, pattern)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return errors.New("no documents: is -root the repository?")
	}
	for _, file := range files {
		d := &document{file: file, page: pageOf(file), lang: "en"}
		if strings.HasSuffix(file, ".zh-CN.md") {
			d.lang = "zh"
		}
		s.docs = append(s.docs, d)
		s.byFile[file] = d
	}
	return nil
}

// pageOf returns the page that a document becomes, below the folder of its language: docs/guide/chat.zh-CN.md becomes
// guide/chat.html.
func pageOf(file string) string {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(file, ".md"), ".zh-CN"), "docs/")
	dir, base := path.Split(name)
	if base == "README" {
		base = "index"
	}
	return dir + strings.ToLower(base) + ".html"
}

// order sorts the documents as the menus show them: the guides in the order of the list in README.md, all others by name.
func (s *site) order() {
	var listed []string
	if readme := s.byFile["README.md"]; readme != nil {
		for _, r := range readme.refs[max(0, slices.IndexFunc(readme.refs, func(r ref) bool { return r.to.page == "guide/notes.html" })):] {
			listed = append(listed, r.to.page)
		}
	}
	place := func(d *document) int {
		if i := slices.Index(listed, d.page); i >= 0 {
			return i
		}
		return len(listed)
	}
	slices.SortStableFunc(s.docs, func(a, b *document) int { return cmp.Or(place(a)-place(b), strings.Compare(a.page, b.page)) })
}

// twins reports guides that are missing in lang, and documents that exist only in Chinese. Other pages are shown in English,
// with a note.
func (s *site) twins(lang string) {
	for _, d := range s.docs {
		if d.lang == lang || s.page(lang, d.page) != nil {
			continue
		}
		if lang == "en" || strings.HasPrefix(d.page, "guide/") {
			s.wrong(d.file, "it has no twin in the other language")
		}
	}
}

// page returns the document of a page; nil if it does not exist in this language.
func (s *site) page(lang, page string) *document {
	if i := slices.IndexFunc(s.docs, func(d *document) bool { return d.lang == lang && d.page == page }); i >= 0 {
		return s.docs[i]
	}
	return nil
}

// copy puts a file of the repository into the site.
func (s *site) copy(from, to string) error {
	data, err := fs.ReadFile(s.root, from)
	if err == nil {
		s.files[to] = data
	}
	return err
}

// words are the texts of the frame around each page, by language.
var words = map[string]map[string]string{
	"en": {
		"lang": "en", "search": "Search", "other": "中文", "otherLang": "zh-CN", "menu": "Menu", "theme": "Light or dark", "contents": "On this page", "home": "Overview",
		"nothing": "Nothing was found.", "skip": "To the text", "results": "Found", "copy": "Copy", "copied": "Copied", "docs": "Documentation", "only": "", "loading": "Loading …",
	},
	"zh": {
		"lang": "zh-CN", "search": "搜索", "other": "English", "otherLang": "en", "menu": "菜单", "theme": "浅色或深色", "contents": "本页内容", "home": "概览",
		"nothing": "没有找到。", "skip": "跳到正文", "results": "搜索结果", "copy": "复制", "copied": "已复制", "docs": "文档", "only": "这一页只有英文。", "loading": "正在加载 …",
	},
}

// link is a line of a menu.
type link struct {
	To, Text string
	Current  bool
	Lang     string // of the text, where it is not that of the page
}

type shelf struct {
	Name  string
	Links []link
}

// write makes all pages of one language. A document without a translation is shown in English, with a note.
func (s *site) write(lang string) error {
	frame, err := template.ParseFS(own, "page.html")
	if err != nil {
		return err
	}
	for _, d := range s.docs {
		if d.lang != lang && (d.lang != "en" || s.page(lang, d.page) != nil) {
			continue
		}
		up := strings.Repeat("../", strings.Count(d.page, "/"))
		other := map[string]string{"en": "zh", "zh": "en"}[lang]
		var contents []heading
		for _, h := range d.headings {
			if h.Level == 2 {
				contents = append(contents, h)
			}
		}
		if len(contents) < 2 {
			contents = nil
		}
		var out bytes.Buffer
		err := frame.Execute(&out, map[string]any{
			"W": words[lang], "Title": d.title, "Body": d.body, "Up": up, "Root": up + "../", "Lang": lang, "Foreign": d.lang != lang, "Version": s.version,
			"Other": up + "../" + other + "/" + d.page, "Menu": s.menu(lang, d, up), "Contents": contents, "Home": d.page == "index.html",
		})
		if err != nil {
			return err
		}
		s.files[lang+"/"+d.page] = out.Bytes()
	}
	return nil
}

// short returns a title up to its colon.
func short(title string) string {
	title, _, _ = strings.Cut(title, ": ")
	title, _, _ = strings.Cut(title, "：")
	return title
}

// menu returns the menu of a page in lang. up leads from the page to the folder of the language.
func (s *site) menu(lang string, current *document, up string) []shelf {
	var out []shelf
	for _, sh := range shelves {
		list := shelf{Name: map[string]string{"en": sh.en, "zh": sh.zh}[lang]}
		for _, d := range s.docs {
			if !sh.under(d.page) || d.lang != lang && (d.lang != "en" || s.page(lang, d.page) != nil) {
				continue
			}
			l := link{To: up + d.page, Text: short(d.title), Current: d.page == current.page}
			if d.lang != lang {
				l.Lang = words[d.lang]["lang"]
			}
			list.Links = append(list.Links, l)
		}
		out = append(out, list)
	}
	return out
}

// index returns the script with the texts that the search looks through. For each document in lang it holds [page, title,
// whether a translation exists, [[id, heading, text], …]].
func (s *site) index(lang string) []byte {
	all := []any{}
	for _, d := range s.docs {
		if d.lang != lang {
			continue
		}
		twin := s.page(map[string]string{"en": "zh", "zh": "en"}[lang], d.page) != nil
		sections := [][3]string{}
		for _, sec := range d.sections {
			sections = append(sections, [3]string{sec.id, sec.heading, strings.Join(strings.Fields(sec.text), " ")})
		}
		all = append(all, []any{d.page, d.title, twin, sections})
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "(window.collie ||= {}).%s = ", lang)
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(all) // strings and bools
	return out.Bytes()
}
