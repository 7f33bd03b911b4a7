package live

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
)

// trySystem is the step of the tour that calls the actions about the kernel itself.
func (s *smoke) trySystem() {
	s.mustContain("version", s.mustCall("system.get_version", args{}).Get("version").String(), ".")
	s.mustContain("time", s.mustCall("system.get_current_time", args{}).Get("iso").String(), "T")
	s.mustCall("system.network", args{})
	s.mustContain("message", s.mustCall("system.notify", args{"msg": "Collie <b>passes</b> by & 走过", "level": "info", "timeout": 1}).Raw, `"id"`)
	s.isSwitchedOff("system.workspace_info", args{})
	if !s.isSwitchedOff("system.conf", args{}) {
		if value := s.mustCall("system.conf", args{"mode": "get", "keyPath": "api.token"}); !strings.Contains(value.Raw, "[REDACTED]") {
			s.t.Fatal("system.conf shows the token")
		}
	}
}

// tryMascot is the step that spends coins, of which each successful call before has earned one.
func (s *smoke) tryMascot() {
	balance := s.mustCall("mascot.get_balance", args{}).Get("balance").Int()
	s.mustContain("shop", s.mustCall("mascot.shop", args{}).Raw, `"milk"`)
	if balance < 3 { // each successful call has earned a coin
		s.t.Fatalf("%d coins", balance)
	}
	s.mustContain("bought", s.mustCall("mascot.buy", args{"item_id": "milk"}).Raw, `"milk"`)
	s.mustRefuse("mascot.buy", args{"item_id": "bone"}, "validation_error", "not_found", "invalid_arguments")
}

// undoWrite takes a write back with `collie siyuan undo`. written is the result of the call that wrote.
func (s *smoke) undoWrite(written gjson.Result) {
	s.t.Helper()
	id := written.Get("requestId").String()
	if out, errs, code := s.p.Run(s.t, s.home, "--config", s.settings, "siyuan", "undo", id, "--yes"); code != 0 {
		s.t.Fatalf("undo %s: exit code %d: %s %s", id, code, out, errs)
	}
}

// tryUndo is the step that makes writes of every kind that can be taken back, takes each one back, and checks that the
// document is the same as before.
func (s *smoke) tryUndo() {
	s.mustWrite("Undo", everyBlock)
	doc := s.id("Undo")
	state := func() string { return s.mustCall("document.get_doc", args{"id": doc}).Get("stateHash").String() }
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
		written := s.mustCall(w.name, w.args)
		if state() == before && w.name != "fs.mv" {
			s.t.Fatalf("%s %v changed nothing", w.name, w.args)
		}
		s.undoWrite(written)
		if now := state(); now != before {
			text := s.mustCall("document.get_doc", args{"id": doc}).Get("content").String()
			s.t.Fatalf("%s %v was taken back, and the document is another:\n%s", w.name, w.args, text)
		}
	}
	s.mustWrite("Plain", "one\n\ntwo")
	s.undoWrite(s.mustCall("fs.write", args{"path": s.path("Plain"), "markdown": "new", "overwrite": true}))
	s.mustContain("after an overwrite was taken back", s.text("Plain"), "one", "two")

	// Nothing is written twice, and changes by others are not overwritten.
	again := args{"dataType": "markdown", "data": "only once", "parentID": s.id("Plain"), "requestId": string(kernel.NewID()) + "-once"}
	first := s.mustCall("block.append", again)
	if second := s.mustCall("block.append", again); !second.Get("replayed").Bool() || second.Get("id").String() != first.Get("id").String() {
		s.t.Fatalf("repeated: %s", second.Raw)
	}
	s.mustRefuse("fs.replace", args{"path": s.path("Plain"), "edit": args{"old": "one", "new": "1"}, "ifMatch": before}, "state_changed")
}

// tryUndoTree is the step that removes a tree of documents, three levels deep, and takes that back.
func (s *smoke) tryUndoTree() {
	for _, title := range []string{"Tree 树", "Tree 树/Branch", "Tree 树/Branch/Leaf", "Tree 树/Twig"} {
		s.mustWrite(title, "text of "+title)
	}
	before := s.pathsBelow("Tree 树")
	s.undoWrite(s.mustCall("fs.rm", args{"path": s.path("Tree 树")}))
	if now := s.pathsBelow("Tree 树"); len(before) != 3 || !slices.Equal(now, before) {
		s.t.Fatalf("below the tree were %q, and are %q", before, now)
	}
	s.mustContain("a leaf", s.text("Tree 树/Branch/Leaf"), "text of Tree 树/Branch/Leaf")
}

// pathsBelow returns the paths of all documents below a document. They are sorted, because restored documents may be in
// another order.
func (s *smoke) pathsBelow(title string) []string {
	var paths []string
	var walk func(list gjson.Result)
	walk = func(list gjson.Result) {
		for _, d := range list.Array() {
			paths = append(paths, d.Get("path").String())
			walk(d.Get("children"))
		}
	}
	walk(s.mustCall("fs.tree", args{"path": s.path(title)}).Get("tree"))
	slices.Sort(paths)
	return paths
}

// removeAll is the last step: it removes all documents of the notebook.
func (s *smoke) removeAll() {
	for _, item := range s.mustCall("fs.ls", args{"path": "/" + s.name}).Get("items").Array() {
		s.mustCall("fs.rm", args{"path": item.Get("path").String()})
	}
	if left := s.mustCall("fs.ls", args{"path": "/" + s.name}); len(left.Get("items").Array()) > 0 {
		s.t.Fatalf("left: %s", left.Raw)
	}
}
