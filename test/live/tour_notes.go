package live

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
)

// path returns the path of a document in the notebook of the test.
func (s *smoke) path(title string) string { return "/" + s.name + "/" + title }

// ids returns the ids of the items of a list, in its order.
func ids(list gjson.Result) []string {
	var out []string
	for _, one := range list.Array() {
		out = append(out, one.Get("id").String())
	}
	return out
}

// id returns the id of the document with this title in the notebook of the test.
func (s *smoke) id(title string) string {
	s.t.Helper()
	found := s.mustCall("document.lookup", args{"notebook": s.notebook, "hpath": "/" + title, "include": []string{"id"}})
	id := found.Get("idPath.id").String()
	if !kernel.ID(id).Valid() {
		s.t.Fatalf("id of %s: %s", title, found.Raw)
	}
	return id
}

// block returns the id of the first block of a document that holds text.
func (s *smoke) block(title, text string) string {
	s.t.Helper()
	list := s.mustCall("document.get_child_blocks", args{"id": s.id(title)})
	for _, b := range list.Get("data").Array() {
		if strings.Contains(b.Get("markdown").String(), text) {
			return b.Get("id").String()
		}
	}
	s.t.Fatalf("no block of %s holds %q: %s", title, text, list.Raw)
	return ""
}

// text returns the text of a document.
func (s *smoke) text(title string) string {
	s.t.Helper()
	return s.mustCall("fs.read", args{"path": s.path(title)}).Get("content").String()
}

// mustWrite creates a document from Markdown.
func (s *smoke) mustWrite(title, markdown string) {
	s.t.Helper()
	s.mustCall("fs.write", args{"path": s.path(title), "markdown": markdown})
}

// createNotebook is the first step of the tour: it makes the notebook and two documents, on which the later steps build.
func (s *smoke) createNotebook() {
	s.mustContain("bootstrap", s.mustCall("system.bootstrap", args{}).Raw, `"schemaVersion":2`, `"nextCalls"`)
	s.notebook = s.mustCall("notebook.create", args{"name": s.name}).Get("id").String()
	if !kernel.ID(s.notebook).Valid() {
		s.t.Fatalf("notebook id %q", s.notebook)
	}
	s.mustWrite("Plan", "## Goals 目标\n\nThe first goal is "+s.word+". #"+s.word+"/tag#\n\n- one\n- two")
	s.mustWrite("Plan/Child", "Below the plan.")
	s.mustRefuse("fs.write", args{"path": s.path("Plan"), "markdown": "again"}, "already_exists")
}

// tryRead is the step that lists and reads the documents.
func (s *smoke) tryRead() {
	s.mustContain("ls", s.mustCall("fs.ls", args{"path": "/" + s.name}).Raw, `"Plan"`)
	s.mustContain("ls of all", s.mustCall("fs.ls", args{"path": "/"}).Raw, s.name, "/AGENTS.md")
	s.mustContain("tree", s.mustCall("fs.tree", args{"path": "/" + s.name}).Raw, `"Plan"`, `"Child"`)
	s.mustContain("read", s.text("Plan"), "Goals 目标", s.word, "- two")
	s.mustContain("lookup", s.mustCall("document.lookup", args{"notebook": s.notebook, "hpath": "/Plan/Child"}).Raw, "Child", s.notebook)
	s.mustContain("outline", s.mustCall("document.get_outline", args{"id": s.id("Plan")}).Raw, "Goals 目标")
	s.mustRefuse("fs.read", args{"path": s.path("Nothing")}, "not_found")
	s.mustRefuse("document.get_doc", args{"id": "20990101000000-zzzzzzz"}, "not_found")
}

// tryEdit is the step that changes text and attributes, and renames and moves a document.
func (s *smoke) tryEdit() {
	plan := s.id("Plan")
	s.mustCall("fs.replace", args{"path": s.path("Plan"), "edit": args{"old": "first goal", "new": "only goal"}})
	s.mustCall("block.append", args{"dataType": "markdown", "data": "An appended line.", "parentID": plan})
	line := s.block("Plan", "An appended line.")
	s.mustCall("block.set_attrs", args{"id": line, "attrs": args{"memo": "mine"}})
	s.mustCall("block.update", args{"id": line, "dataType": "markdown", "data": "A changed line."})
	s.mustContain("attributes after an update", s.mustCall("block.get_attrs", args{"id": line}).Raw, "mine")
	s.mustCall("document.rename", args{"id": s.id("Plan/Child"), "title": "Child 孩子"})
	s.mustContain("read", s.text("Plan"), "only goal", "A changed line.")
	s.mustCall("fs.mv", args{"from": s.path("Plan/Child 孩子"), "to": s.path("Moved")})
	s.mustContain("ls", s.mustCall("fs.ls", args{"path": "/" + s.name}).Raw, `"Moved"`)
}

// tryTitles is the step that works with titles whose characters mean something in paths, SQL or HTML.
func (s *smoke) tryTitles() {
	for _, title := range []string{`50% & "more" <b>it's #1 _x_`, "表情 😀 👩‍👩‍👧", "[[brackets]] {{x}} | $a$", "a.sy"} {
		s.mustWrite("Odd", "parent")
		s.mustCall("document.rename", args{"id": s.id("Odd"), "title": title})
		s.mustContain("read "+title, s.text(title), "parent")
		s.mustWrite(title+"/Below", "child of "+s.word)
		s.mustContain("tree of "+title, s.mustCall("fs.tree", args{"path": s.path(title)}).Get("tree.0.name").String(), "Below")
		s.mustContain("search in "+title, s.mustCall("fs.search", args{"path": s.path(title), "query": "child of"}).Raw, s.word)
		s.mustCall("fs.rm", args{"path": s.path(title)})
		s.mustRefuse("fs.read", args{"path": s.path(title)}, "not_found")
	}
}

// tryNotebook is the step that reads and changes the settings of the notebook, and writes a daily note.
func (s *smoke) tryNotebook() {
	nb := args{"notebook": s.notebook}
	with := func(more args) args {
		out := args{"notebook": s.notebook}
		maps.Copy(out, more)
		return out
	}
	s.mustContain("list", s.mustCall("notebook.list", args{}).Raw, s.notebook, s.name)
	s.mustCall("notebook.rename", with(args{"name": s.name + " 笔记"}))
	s.mustCall("notebook.rename", with(args{"name": s.name}))
	s.mustCall("notebook.set_icon", with(args{"icon": "1f4d4"}))
	s.mustCall("notebook.set_conf", with(args{"conf": args{"dailyNoteSavePath": "/daily/note 日记"}}))
	s.mustContain("conf", s.mustCall("notebook.get_conf", nb).Raw, "/daily/note 日记")
	s.mustContain("permissions", s.mustCall("notebook.get_permissions", nb).Raw, `"rwd"`)
	s.mustContain("documents", s.mustCall("notebook.get_child_docs", nb).Raw, `"Plan"`, `"Moved"`)
	daily := s.mustCall("document.create_daily_note", nb).Get("id").String()
	s.mustCall("block.add_to_daily_note", with(args{"dataType": "markdown", "data": "logged " + s.word, "position": "append"}))
	s.mustContain("the daily note", s.mustCall("document.get_doc", args{"id": daily}).Get("content").String(), "logged "+s.word)
	if again := s.mustCall("document.create_daily_note", nb).Get("id").String(); again != daily {
		s.t.Fatalf("two daily notes, %s and %s", daily, again)
	}
	s.mustCall("fs.rm", args{"path": s.path("daily")})
}

// tryDocuments is the step that creates, orders, copies and moves documents, and turns a heading into a document and
// back.
func (s *smoke) tryDocuments() {
	made := s.mustCall("document.create", args{"notebook": s.notebook, "path": "/Doc/One 一", "markdown": "# Part\n\nunder the part\n\n## Sub\n\nlast"})
	one := made.Get("id").String()
	doc := s.id("Doc")
	two := s.mustCall("document.create", args{"notebook": s.notebook, "parentPath": "/Doc", "title": "Two", "markdown": "second"}).Get("id").String()
	s.mustContain("child documents", s.mustCall("document.get_child_docs", args{"id": doc}).Raw, one, two)
	s.mustContain("tree", s.mustCall("document.list_tree", args{"notebook": s.notebook, "path": "/"}).Raw, one, two)
	s.mustCall("document.reorder", args{"parentID": doc, "orderedIDs": []string{two, one}})
	if order := ids(s.mustCall("document.get_child_docs", args{"id": doc})); !slices.Equal(order, []string{two, one}) {
		s.t.Fatalf("the order is %v, want %v", order, []string{two, one})
	}
	s.mustCall("fs.reorder", args{"path": s.path("Doc"), "orderedPaths": []string{s.path("Doc/One 一"), s.path("Doc/Two")}})
	s.mustCall("document.set_attr", args{"id": one, "attrs": args{"icon": "1f600", "cover": "https://example.org/a b.png"}})
	s.mustContain("appearance", s.mustCall("block.get_attrs", args{"id": one}).Raw, "1f600", "example.org")
	s.mustContain("search by title", s.mustCall("document.search_docs", args{"notebook": s.notebook, "query": "One 一"}).Raw, one)
	s.mustContain("read as HTML", s.mustCall("document.get_doc", args{"id": one, "mode": "html"}).Raw, "under the part")
	copied := s.mustCall("document.duplicate", args{"id": two}).Get("id").String()
	s.mustCall("document.move", args{"fromIDs": []string{copied}, "toID": one})
	s.mustContain("the moved copy", s.mustCall("document.get_child_docs", args{"id": one}).Raw, copied)
	heading := s.block("Doc/One 一", "## Sub")
	s.mustCall("document.heading_to_doc", args{"headingID": heading, "targetNotebook": s.notebook})
	s.mustContain("what was below the heading", s.mustCall("document.get_doc", args{"id": heading}).Get("content").String(), "last")
	s.mustCall("document.doc_to_heading", args{"srcID": heading, "targetID": s.block("Doc/One 一", "under the part"), "after": true})
	s.mustContain("the document of the heading", s.text("Doc/One 一"), "last")
	s.mustCall("fs.rm", args{"path": s.path("Doc")})
}
