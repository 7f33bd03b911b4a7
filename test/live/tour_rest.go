package live

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
)

// system is the step of the tour that calls the actions about the kernel itself.
func (s *smoke) system() {
	s.want("version", s.do("system.get_version", args{}).Get("version").String(), ".")
	s.want("time", s.do("system.get_current_time", args{}).Get("iso").String(), "T")
	s.do("system.network", args{})
	s.want("message", s.do("system.notify", args{"msg": "Collie <b>passes</b> by & 走过", "level": "info", "timeout": 1}).Raw, `"id"`)
	s.off("system.workspace_info", args{})
	if !s.off("system.conf", args{}) {
		if value := s.do("system.conf", args{"mode": "get", "keyPath": "api.token"}); !strings.Contains(value.Raw, "[REDACTED]") {
			s.t.Fatal("system.conf shows the token")
		}
	}
}

// mascot is the step that spends coins, of which each successful call before has earned one.
func (s *smoke) mascot() {
	balance := s.do("mascot.get_balance", args{}).Get("balance").Int()
	s.want("shop", s.do("mascot.shop", args{}).Raw, `"milk"`)
	if balance < 3 { // each successful call has earned a coin
		s.t.Fatalf("%d coins", balance)
	}
	s.want("bought", s.do("mascot.buy", args{"item_id": "milk"}).Raw, `"milk"`)
	s.refused("mascot.buy", args{"item_id": "bone"}, "validation_error", "not_found", "invalid_arguments")
}

// revert takes a write back with `collie siyuan undo`. written is the result of the call that wrote.
func (s *smoke) revert(written gjson.Result) {
	s.t.Helper()
	id := written.Get("requestId").String()
	if out, errs, code := s.p.Run(s.t, s.home, "--config", s.settings, "siyuan", "undo", id, "--yes"); code != 0 {
		s.t.Fatalf("undo %s: exit code %d: %s %s", id, code, out, errs)
	}
}

// undo is the step that makes writes of every kind that can be taken back, takes each one back, and checks that the
// document is the same as before.
func (s *smoke) undo() {
	s.write("Undo", everyBlock)
	doc := s.id("Undo")
	state := func() string { return s.do("document.get_doc", args{"id": doc}).Get("stateHash").String() }
	para, list := s.block("Undo", "para"), s.block("Undo", "- a")
	before := state()
	for _, w := range []struct {
		name string
		args args
	}{
		{"block.update", args{"id": para, "dataType": "markdown", "data": "## another"}},
		{"block.update", args{"id": list, "dataType": "markdown", "data": "- x"}},
		{"block.replace", args{"id": para, "edit": args{"old": "para", "new": "pair"}}},
		{"block.set_attrs", args{"id": para, "attrs": args{"memo": "m", "custom-x": "1"}}},
		{"block.set_fold_state", args{"id": list, "folded": true}},
		{"fs.replace", args{"path": s.path("Undo"), "edit": args{"old": "last", "new": "first"}}},
		{"document.rename", args{"id": doc, "title": "Undone"}},
		{"document.set_attr", args{"id": doc, "attrs": args{"icon": "1f600"}}},
		{"fs.mv", args{"from": s.path("Undo"), "to": s.path("Moved/Undo too")}},
	} {
		written := s.do(w.name, w.args)
		if state() == before && w.name != "fs.mv" {
			s.t.Fatalf("%s %v changed nothing", w.name, w.args)
		}
		s.revert(written)
		if now := state(); now != before {
			text := s.do("document.get_doc", args{"id": doc}).Get("content").String()
			s.t.Fatalf("%s %v was taken back, and the document is another:\n%s", w.name, w.args, text)
		}
	}
	s.write("Plain", "one\n\ntwo")
	s.revert(s.do("fs.write", args{"path": s.path("Plain"), "markdown": "new", "overwrite": true}))
	s.want("after an overwrite was taken back", s.text("Plain"), "one", "two")

	// Nothing is written twice, and changes by others are not overwritten.
	again := args{"dataType": "markdown", "data": "only once", "parentID": s.id("Plain"), "requestId": string(kernel.NewID()) + "-once"}
	first := s.do("block.append", again)
	if second := s.do("block.append", again); !second.Get("replayed").Bool() || second.Get("id").String() != first.Get("id").String() {
		s.t.Fatalf("repeated: %s", second.Raw)
	}
	s.refused("fs.replace", args{"path": s.path("Plain"), "edit": args{"old": "one", "new": "1"}, "ifMatch": before}, "state_changed")
}

// undoTree is the step that removes a tree of documents, three levels deep, and takes that back.
func (s *smoke) undoTree() {
	for _, title := range []string{"Tree 树", "Tree 树/Branch", "Tree 树/Branch/Leaf", "Tree 树/Twig"} {
		s.write(title, "text of "+title)
	}
	before := s.below("Tree 树")
	s.revert(s.do("fs.rm", args{"path": s.path("Tree 树")}))
	if now := s.below("Tree 树"); len(before) != 3 || !slices.Equal(now, before) {
		s.t.Fatalf("below the tree were %q, and are %q", before, now)
	}
	s.want("a leaf", s.text("Tree 树/Branch/Leaf"), "text of Tree 树/Branch/Leaf")
}

// below returns the paths of all documents below a document. They are sorted, because restored documents may be in
// another order.
func (s *smoke) below(title string) []string {
	var paths []string
	var walk func(list gjson.Result)
	walk = func(list gjson.Result) {
		for _, d := range list.Array() {
			paths = append(paths, d.Get("path").String())
			walk(d.Get("children"))
		}
	}
	walk(s.do("fs.tree", args{"path": s.path(title)}).Get("tree"))
	slices.Sort(paths)
	return paths
}

// cleanup is the last step: it removes all documents of the notebook.
func (s *smoke) cleanup() {
	for _, item := range s.do("fs.ls", args{"path": "/" + s.name}).Get("items").Array() {
		s.do("fs.rm", args{"path": item.Get("path").String()})
	}
	if left := s.do("fs.ls", args{"path": "/" + s.name}); len(left.Get("items").Array()) > 0 {
		s.t.Fatalf("left: %s", left.Raw)
	}
}
