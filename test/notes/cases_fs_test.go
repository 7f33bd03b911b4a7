package notes_test

// fsCases are the uses of the actions of the tool fs, with the level that each one needs. See useCase for the fields.
var fsCases = []useCase{
	{act: "fs.ls", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.notePath("a")} }},
	{act: "fs.ls", how: "notebook", need: r, args: func(_ *workspace, p *place) object { return object{"path": "/" + p.name()} }},
	{act: "fs.ls", how: "name and id", need: r, args: func(_ *workspace, p *place) object {
		return object{"path": "/" + p.name() + "#" + string(p.nb)}
	}},
	{act: "fs.ls", how: "all", kind: filtersResult, showsWord: "name", args: func(*workspace, *place) object { return object{"path": "/"} }},
	{act: "fs.tree", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.notePath("a")} }},
	{act: "fs.tree", how: "notebook", need: r, args: func(_ *workspace, p *place) object { return object{"path": "/" + p.name()} }},
	{act: "fs.tree", how: "all", kind: filtersResult, showsWord: "titlec", args: func(*workspace, *place) object { return object{"path": "/", "maxDepth": 5} }},
	{act: "fs.read", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.notePath("a")} }},
	{act: "fs.read", how: "without the notebook", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.hpath("a")} }},
	{act: "fs.read", how: "path and id", need: r, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("a") + "#" + string(p.id("doca"))}
	}},
	{act: "fs.write", how: "new", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": "/" + p.name() + "/new", "markdown": "text"}
	}},
	{act: "fs.write", how: "below", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("b") + "/new", "markdown": "text"}
	}},
	{act: "fs.write", how: "overwrite", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("p"), "markdown": "text", "overwrite": true}
	}},
	{act: "fs.replace", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("b"), "edit": object{"old": "second", "new": "other"}}
	}},
	{act: "fs.rm", need: rwd, args: func(_ *workspace, p *place) object { return object{"path": p.notePath("b")} }},
	{act: "fs.mv", how: "rename", need: rw, args: func(_ *workspace, p *place) object {
		return object{"from": p.notePath("b"), "to": "/" + p.name() + "/renamed"}
	}},
	{act: "fs.mv", how: "from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"from": p.notePath("b"), "to": "/" + w.open.name() + "/moved"}
	}},
	{act: "fs.mv", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"from": w.open.notePath("b"), "to": "/" + p.name() + "/moved"}
	}},
	{act: "fs.reorder", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("a"), "orderedPaths": []string{p.notePath("a") + "/" + p.title("d"), p.notePath("a") + "/" + p.title("c")}}
	}},
	{act: "fs.search", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.notePath("a"), "query": "common"} }},
	{act: "fs.search", how: "notebook", need: r, args: func(_ *workspace, p *place) object { return object{"path": "/" + p.name(), "query": "common"} }},
	{act: "fs.search", how: "all", kind: filtersResult, showsWord: "two", args: func(*workspace, *place) object { return object{"query": "common"} }},
}

// addUnreferredDocs adds to the open and the shut notebook a document that nothing refers to, so that it may be overwritten, and
// to the workspace an unused asset.
func addUnreferredDocs(w *workspace) {
	for _, p := range []*place{w.open, w.shut} {
		w.createDoc(p, "p", p.hpath("p"), "plain "+p.word("plain"))
	}
	w.File("/data/assets/zqunused.png", []byte("unused"))
}

// notebookCases are the uses of the actions of the tool notebook.
var notebookCases = []useCase{
	{act: "notebook.list", kind: filtersResult, showsWord: "name", args: noArgs},
	{act: "notebook.create", kind: anyLevel, writes: true, args: func(*workspace, *place) object { return object{"name": "zq new"} }},
	{act: "notebook.set_open_state", how: "close", need: rw, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "opened": false} }},
	{act: "notebook.remove", need: rwd, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb} }},
	{act: "notebook.rename", need: rw, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "name": "zq other"} }},
	{act: "notebook.get_conf", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb} }},
	{act: "notebook.set_conf", need: rw, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "conf": object{"dailyNoteSavePath": "/zq"}}
	}},

	{act: "notebook.set_conf", how: "that queries", kind: needsEverywhere, need: r, writes: true, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "conf": object{"docCreateSavePath": "{{ queryBlocks \"SELECT * FROM blocks\" | len }}"}}
	}},
	{act: "notebook.set_conf", how: "with a template that queries", kind: needsEverywhere, need: r, writes: true, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "conf": object{"dailyNoteTemplatePath": "/zqquery.md"}}
	}},
	{act: "notebook.set_icon", need: rw, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "icon": "1f4d4"} }},
	{act: "notebook.get_permissions", how: "all", kind: filtersResult, showsWord: "name", args: noArgs},
	{act: "notebook.get_permissions", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb} }},
	{act: "notebook.set_permission", kind: peopleOnly, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "permission": "rwd"} }},
	{act: "notebook.get_child_docs", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb} }},
}

// noArgs returns no arguments.
func noArgs(*workspace, *place) object { return object{} }
