package notes_test

// documentCases are the uses of the actions of the tool document, with the level that each one needs. See useCase for
// the fields.
var documentCases = []useCase{
	{act: "document.create", need: rw, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "path": "/new", "markdown": "text"}
	}},
	{act: "document.create", how: "below a path", need: rw, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "parentPath": p.path("b"), "title": "new"}
	}},
	{act: "document.lookup", need: r, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("doca"), "include": []string{"id", "ids", "path", "hpath", "docInfo"}}
	}},
	{act: "document.lookup", how: "path", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "path": p.path("a")} }},
	{act: "document.lookup", how: "hpath", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "hpath": p.hpath("a")} }},
	{act: "document.rename", need: rw, args: func(_ *workspace, p *place) object { return object{"id": p.id("docb"), "title": "other"} }},
	{act: "document.rename", how: "path", need: rw, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "path": p.path("b"), "title": "other"}
	}},
	{act: "document.remove", need: rwd, args: func(_ *workspace, p *place) object { return object{"id": p.id("docb")} }},
	{act: "document.remove", how: "path", need: rwd, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "path": p.path("b")} }},
	{act: "document.remove", how: "several", need: rwd, args: func(w *workspace, p *place) object {
		return object{"ids": []any{w.open.id("docb"), p.id("docb")}}
	}},
	{act: "document.remove", how: "paths", need: rwd, args: func(w *workspace, p *place) object {
		return object{"paths": []any{w.open.path("b"), p.path("b")}}
	}},
	{act: "document.move", how: "from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"fromIDs": []any{w.open.id("docb"), p.id("docb")}, "toID": w.open.id("doca")}
	}},
	{act: "document.move", how: "within", need: rw, args: func(_ *workspace, p *place) object {
		return object{"fromIDs": []any{p.id("docb")}, "toID": p.id("doca")}
	}},
	{act: "document.move", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromIDs": []any{w.open.id("docb")}, "toID": p.id("doca")}
	}},
	{act: "document.move", how: "to a notebook", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromIDs": []any{w.open.id("docb")}, "toID": p.nb}
	}},
	{act: "document.move", how: "paths from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"fromPaths": []any{w.open.path("b"), p.path("b")}, "toNotebook": w.open.nb, "toPath": w.open.path("a")}
	}},
	{act: "document.move", how: "paths to", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromPaths": []any{w.open.path("b")}, "toNotebook": p.nb, "toPath": p.path("a")}
	}},
	{act: "document.reorder", need: rw, args: func(_ *workspace, p *place) object {
		return object{"parentID": p.id("doca"), "orderedIDs": []any{p.id("docd"), p.id("docc")}}
	}},
	{act: "document.get_child_blocks", need: r, args: byID("doca")},
	{act: "document.get_child_docs", need: r, args: byID("doca")},
	{act: "document.set_attr", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("docb"), "attrs": object{"icon": "1f4d4"}}
	}},
	{act: "document.list_tree", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "path": "/"} }},
	{act: "document.list_tree", how: "path", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "path": p.path("a")} }},
	{act: "document.search_docs", need: r, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb, "query": "zq"} }},
	{act: "document.search_docs", how: "below a path", need: r, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "query": "zq", "path": p.path("a")}
	}},
	{act: "document.get_doc", need: r, args: byID("doca")},
	{act: "document.get_doc", how: "html", need: r, args: func(_ *workspace, p *place) object { return object{"id": p.id("doca"), "mode": "html"} }},
	{act: "document.get_outline", need: r, args: byID("doca")},
	{act: "document.create_daily_note", need: rw, args: func(_ *workspace, p *place) object { return object{"notebook": p.nb} }},
	{act: "document.duplicate", need: rw, args: byID("docb")},
	{act: "document.heading_to_doc", need: rw, args: func(_ *workspace, p *place) object {
		return object{"headingID": p.id("hedb"), "targetNotebook": p.nb}
	}},
	{act: "document.heading_to_doc", how: "from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"headingID": p.id("hedb"), "targetNotebook": w.open.nb}
	}},
	{act: "document.heading_to_doc", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"headingID": w.open.id("hedb"), "targetNotebook": p.nb, "targetPath": p.path("a")}
	}},
	{act: "document.heading_to_doc", how: "after", need: rw, args: func(w *workspace, p *place) object {
		return object{"headingID": w.open.id("hedb"), "targetNotebook": p.nb, "previousPath": p.path("a")}
	}},
	{act: "document.doc_to_heading", how: "from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"srcID": p.id("docb"), "targetID": w.open.id("para"), "after": true}
	}},
	{act: "document.doc_to_heading", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"srcID": w.open.id("docb"), "targetID": p.id("para"), "after": true}
	}},
}

// byID returns the arguments {"id": …} for a part.
func byID(part string) argsFunc {
	return func(_ *workspace, p *place) object { return object{"id": p.id(part)} }
}

// blockCases are the uses of the actions of the tool block.
var blockCases = []useCase{
	{act: "block.insert", how: "after", need: rw, args: insertArgs("previousID", "para")},
	{act: "block.insert", how: "before", need: rw, args: insertArgs("nextID", "para")},
	{act: "block.insert", how: "into", need: rw, args: insertArgs("parentID", "docb")},
	{act: "block.insert", how: "several", need: rw, args: func(w *workspace, p *place) object {
		return object{"blocks": []any{
			object{"dataType": "markdown", "data": "one", "previousID": w.open.id("para")},
			object{"dataType": "markdown", "data": "two", "previousID": p.id("para")},
		}}
	}},
	{act: "block.prepend", need: rw, args: insertArgs("parentID", "docb")},
	{act: "block.append", need: rw, args: insertArgs("parentID", "docb")},
	{act: "block.update", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "dataType": "markdown", "data": "new"}
	}},
	{act: "block.update", how: "several", need: rw, args: func(w *workspace, p *place) object {
		return object{"items": []any{
			object{"id": w.open.id("par4"), "dataType": "markdown", "data": "new"}, object{"id": p.id("par4"), "dataType": "markdown", "data": "new"},
		}}
	}},
	{act: "block.replace", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "edit": object{"old": "spare", "new": "new"}}
	}},
	{act: "block.delete", need: rwd, args: byID("par4")},
	{act: "block.move", need: rw, args: func(_ *workspace, p *place) object { return object{"id": p.id("par4"), "previousID": p.id("head")} }},
	{act: "block.move", how: "from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"id": p.id("par4"), "previousID": w.open.id("head")}
	}},
	{act: "block.move", how: "several from", need: rwd, args: func(w *workspace, p *place) object {
		return object{"ids": []any{w.open.id("par4"), p.id("par4")}, "parentID": w.open.id("docb")}
	}},
	{act: "block.move", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"ids": []any{w.open.id("par4")}, "parentID": p.id("docb")}
	}},
	{act: "block.set_fold_state", need: rw, args: func(_ *workspace, p *place) object { return object{"id": p.id("head"), "folded": true} }},
	{act: "block.get_kramdown", need: r, args: byID("para")},
	{act: "block.batch_kramdown", need: r, answersEach: true, args: func(w *workspace, p *place) object {
		return object{"ids": []any{w.open.id("para"), p.id("para")}}
	}},
	{act: "block.get_children", need: r, args: byID("doca")},
	{act: "block.transfer_references", how: "from", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromID": p.id("par3"), "toID": w.open.id("par4")}
	}},
	{act: "block.transfer_references", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromID": w.open.id("par3"), "toID": p.id("par4")}
	}},
	{act: "block.transfer_references", how: "in", need: rw, args: func(w *workspace, p *place) object {
		return object{"fromID": w.open.id("par3"), "toID": w.open.id("par4"), "refIDs": []any{p.id("refp")}}
	}},
	{act: "block.set_attrs", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "attrs": object{"custom-x": "y"}}
	}},
	{act: "block.get_attrs", need: r, args: byID("attr")},
	{act: "block.info", need: r, args: byID("para")},
	{act: "block.breadcrumb", need: r, args: byID("para")},
	{act: "block.dom", need: r, args: byID("para")},
	{act: "block.recent_updated", kind: filtersResult, showsWord: "title", args: func(*workspace, *place) object { return object{"count": 200} }},
	{act: "block.word_count", need: r, args: func(w *workspace, p *place) object { return object{"ids": []any{w.open.id("doca"), p.id("doca")}} }},
	{act: "block.add_to_daily_note", need: rw, args: func(_ *workspace, p *place) object {
		return object{"notebook": p.nb, "dataType": "markdown", "data": "log", "position": "append"}
	}},
	{act: "block.docs_info", need: r, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("doca"), "refCount": true, "av": true}
	}},
	{act: "block.docs_info", how: "several", need: r, args: func(w *workspace, p *place) object {
		return object{"ids": []any{w.open.id("doca"), p.id("doca")}, "refCount": true, "av": true}
	}},
}

// insertArgs returns the arguments for inserting a block at an anchor.
func insertArgs(anchor, part string) argsFunc {
	return func(_ *workspace, p *place) object {
		return object{"dataType": "markdown", "data": "new", anchor: p.id(part)}
	}
}
