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
	found := s.do("document.lookup", args{"notebook": s.notebook, "hpath": "/" + title, "include": []string{"id"}})
	id := found.Get("idPath.id").String()
	if !kernel.ID(id).Valid() {
		s.t.Fatalf("id of %s: %s", title, found.Raw)
	}
	return id
}

// block returns the id of the first block of a document that holds text.
func (s *smoke) block(title, text string) string {
	s.t.Helper()
	list := s.do("document.get_child_blocks", args{"id": s.id(title)})
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
	return s.do("fs.read", args{"path": s.path(title)}).Get("content").String()
}

// write creates a document from Markdown.
func (s *smoke) write(title, markdown string) {
	s.t.Helper()
	s.do("fs.write", args{"path": s.path(title), "markdown": markdown})
}

// create is the first step of the tour: it makes the notebook and two documents, on which the later steps build.
func (s *smoke) create() {
	s.want("bootstrap", s.do("system.bootstrap", args{}).Raw, `"schemaVersion":2`, `"nextCalls"`)
	s.notebook = s.do("notebook.create", args{"name": s.name}).Get("id").String()
	if !kernel.ID(s.notebook).Valid() {
		s.t.Fatalf("notebook id %q", s.notebook)
	}
	s.write("Plan", "## Goals 目标\n\nThe first goal is "+s.word+". #"+s.word+"/tag#\n\n- one\n- two")
	s.write("Plan/Child", "Below the plan.")
	s.refused("fs.write", args{"path": s.path("Plan"), "markdown": "again"}, "already_exists")
}

// read is the step that lists and reads the documents.
func (s *smoke) read() {
	s.want("ls", s.do("fs.ls", args{"path": "/" + s.name}).Raw, `"Plan"`)
	s.want("ls of all", s.do("fs.ls", args{"path": "/"}).Raw, s.name, "/AGENTS.md")
	s.want("tree", s.do("fs.tree", args{"path": "/" + s.name}).Raw, `"Plan"`, `"Child"`)
	s.want("read", s.text("Plan"), "Goals 目标", s.word, "- two")
	s.want("lookup", s.do("document.lookup", args{"notebook": s.notebook, "hpath": "/Plan/Child"}).Raw, "Child", s.notebook)
	s.want("outline", s.do("document.get_outline", args{"id": s.id("Plan")}).Raw, "Goals 目标")
	s.refused("fs.read", args{"path": s.path("Nothing")}, "not_found")
	s.refused("document.get_doc", args{"id": "20990101000000-zzzzzzz"}, "not_found")
}

// edit is the step that changes text and attributes, and renames and moves a document.
func (s *smoke) edit() {
	plan := s.id("Plan")
	s.do("fs.replace", args{"path": s.path("Plan"), "edit": args{"old": "first goal", "new": "only goal"}})
	s.do("block.append", args{"dataType": "markdown", "data": "An appended line.", "parentID": plan})
	line := s.block("Plan", "An appended line.")
	s.do("block.set_attrs", args{"id": line, "attrs": args{"memo": "mine"}})
	s.do("block.update", args{"id": line, "dataType": "markdown", "data": "A changed line."})
	s.want("attributes after an update", s.do("block.get_attrs", args{"id": line}).Raw, "mine")
	s.do("document.rename", args{"id": s.id("Plan/Child"), "title": "Child 孩子"})
	s.want("read", s.text("Plan"), "only goal", "A changed line.")
	s.do("fs.mv", args{"from": s.path("Plan/Child 孩子"), "to": s.path("Moved")})
	s.want("ls", s.do("fs.ls", args{"path": "/" + s.name}).Raw, `"Moved"`)
}

// titles is the step that works with titles whose characters mean something in paths, SQL or HTML.
func (s *smoke) titles() {
	for _, title := range []string{`50% & "more" <b>it's #1 _x_`, "表情 😀 👩‍👩‍👧", "[[brackets]] {{x}} | $a$", "a.sy"} {
		s.write("Odd", "parent")
		s.do("document.rename", args{"id": s.id("Odd"), "title": title})
		s.want("read "+title, s.text(title), "parent")
		s.write(title+"/Below", "child of "+s.word)
		s.want("tree of "+title, s.do("fs.tree", args{"path": s.path(title)}).Get("tree.0.name").String(), "Below")
		s.want("search in "+title, s.do("fs.search", args{"path": s.path(title), "query": "child of"}).Raw, s.word)
		s.do("fs.rm", args{"path": s.path(title)})
		s.refused("fs.read", args{"path": s.path(title)}, "not_found")
	}
}

// ownNotebook is the step that reads and changes the settings of the notebook, and writes a daily note.
func (s *smoke) ownNotebook() {
	nb := args{"notebook": s.notebook}
	with := func(more args) args {
		out := args{"notebook": s.notebook}
		maps.Copy(out, more)
		return out
	}
	s.want("list", s.do("notebook.list", args{}).Raw, s.notebook, s.name)
	s.do("notebook.rename", with(args{"name": s.name + " 笔记"}))
	s.do("notebook.rename", with(args{"name": s.name}))
	s.do("notebook.set_icon", with(args{"icon": "1f4d4"}))
	s.do("notebook.set_conf", with(args{"conf": args{"dailyNoteSavePath": "/daily/note 日记"}}))
	s.want("conf", s.do("notebook.get_conf", nb).Raw, "/daily/note 日记")
	s.want("permissions", s.do("notebook.get_permissions", nb).Raw, `"rwd"`)
	s.want("documents", s.do("notebook.get_child_docs", nb).Raw, `"Plan"`, `"Moved"`)
	daily := s.do("document.create_daily_note", nb).Get("id").String()
	s.do("block.add_to_daily_note", with(args{"dataType": "markdown", "data": "logged " + s.word, "position": "append"}))
	s.want("the daily note", s.do("document.get_doc", args{"id": daily}).Get("content").String(), "logged "+s.word)
	if again := s.do("document.create_daily_note", nb).Get("id").String(); again != daily {
		s.t.Fatalf("two daily notes, %s and %s", daily, again)
	}
	s.do("fs.rm", args{"path": s.path("daily")})
}

// documents is the step that creates, orders, copies and moves documents, and turns a heading into a document and
// back.
func (s *smoke) documents() {
	made := s.do("document.create", args{"notebook": s.notebook, "path": "/Doc/One 一", "markdown": "# Part\n\nunder the part\n\n## Sub\n\nlast"})
	one := made.Get("id").String()
	doc := s.id("Doc")
	two := s.do("document.create", args{"notebook": s.notebook, "parentPath": "/Doc", "title": "Two", "markdown": "second"}).Get("id").String()
	s.want("child documents", s.do("document.get_child_docs", args{"id": doc}).Raw, one, two)
	s.want("tree", s.do("document.list_tree", args{"notebook": s.notebook, "path": "/"}).Raw, one, two)
	s.do("document.reorder", args{"parentID": doc, "orderedIDs": []string{two, one}})
	if order := ids(s.do("document.get_child_docs", args{"id": doc})); !slices.Equal(order, []string{two, one}) {
		s.t.Fatalf("the order is %v, want %v", order, []string{two, one})
	}
	s.do("fs.reorder", args{"path": s.path("Doc"), "orderedPaths": []string{s.path("Doc/One 一"), s.path("Doc/Two")}})
	s.do("document.set_attr", args{"id": one, "attrs": args{"icon": "1f600", "cover": "https://example.org/a b.png"}})
	s.want("appearance", s.do("block.get_attrs", args{"id": one}).Raw, "1f600", "example.org")
	s.want("search by title", s.do("document.search_docs", args{"notebook": s.notebook, "query": "One 一"}).Raw, one)
	s.want("read as HTML", s.do("document.get_doc", args{"id": one, "mode": "html"}).Raw, "under the part")
	copied := s.do("document.duplicate", args{"id": two}).Get("id").String()
	s.do("document.move", args{"fromIDs": []string{copied}, "toID": one})
	s.want("the moved copy", s.do("document.get_child_docs", args{"id": one}).Raw, copied)
	heading := s.block("Doc/One 一", "## Sub")
	s.do("document.heading_to_doc", args{"headingID": heading, "targetNotebook": s.notebook})
	s.want("what was below the heading", s.do("document.get_doc", args{"id": heading}).Get("content").String(), "last")
	s.do("document.doc_to_heading", args{"srcID": heading, "targetID": s.block("Doc/One 一", "under the part"), "after": true})
	s.want("the document of the heading", s.text("Doc/One 一"), "last")
	s.do("fs.rm", args{"path": s.path("Doc")})
}
