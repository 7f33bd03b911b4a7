package notes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// probe is a call that tries to find out something about the hidden notebook.
type probe struct {
	act   string
	args  object
	terse bool // the next probe is the same with verbose output
}

func (p probe) String() string { return p.act + " " + string(encode(p.args)) }

// withoutVerbose returns the call as String does, without the argument that asks for verbose output.
func (p probe) withoutVerbose() string {
	args := maps.Clone(p.args)
	delete(args, "verbose")
	return probe{act: p.act, args: args}.String()
}

// probes returns what a curious caller may try without writing: each case about hidden and open things, and more
// calls that list and search.
func (w *workspace) probes() []probe {
	known := actionsByName()
	var out []probe
	add := func(act string, args object) {
		if known[act] == nil {
			return // see TestEveryActionHasACase
		}
		if act != "search.query_sql" { // verbose does not change its answer
			out = append(out, probe{act: act, args: args, terse: true})
		}
		args = maps.Clone(args)
		args["verbose"] = true
		out = append(out, probe{act: act, args: args})
	}
	for _, k := range cases() {
		if a := known[k.act]; a == nil || k.kind == peopleOnly {
			continue
		} else if k.kind == needsLevel {
			out = append(out, probe{act: k.act, args: k.args(w, w.hidden)}) // refused, so verbose makes no difference
		}
		switch args := k.args(w, w.open); {
		case k.need >= access.Write || k.writes:
			if known[k.act].Class.Writes() {
				args["validateOnly"] = true
				out = append(out, probe{act: k.act, args: args})
			}
		default:
			add(k.act, args)
		}
	}
	more := w.moreArgs()
	for _, act := range slices.Sorted(maps.Keys(more)) { // in a fixed order, so that two workspaces get the same calls
		for _, args := range more[act] {
			add(act, args)
		}
	}
	return append(out, w.invalidProbes()...)
}

// searchWords returns search words: hidden ones, and one that occurs everywhere.
func (w *workspace) searchWords() []string {
	h := w.hidden
	return []string{
		"zqhdn", h.word("two"), h.word("tag"), h.word("attrname"), h.word("dbname"), h.word("pic"), h.word("row"), h.cjk, string(h.id("par2")), "common", "zq",
		sharedTag,
	}
}

// moreArgs returns further arguments by action: combinations of open and hidden things that no case has.
func (w *workspace) moreArgs() map[string][]object {
	o, h := w.open, w.hidden
	out := map[string][]object{
		"fs.ls": {
			{"path": o.notePath("a") + "/" + h.title("a")},
			{"path": "/" + o.name() + "/../" + h.name()},
			{"path": "/" + string(h.nb)},
			{"path": "/" + o.name() + "#" + string(h.nb)},
			{"path": h.hpath("a")},
			{"path": "/" + strings.ToUpper(h.name())},
			{"path": "/" + h.word("name")},
			{"path": string(h.id("doca"))},
			{"path": "/" + o.name() + "/" + h.title("a") + "#" + string(h.id("doca"))},
		},
		"fs.read": {
			{"path": o.notePath("r")},
			{"path": o.notePath("r"), "includeBlockIds": true},
			{"path": o.notePath("a"), "includeBlockIds": true, "tokenBudget": 32000},
			{"path": "/" + o.name() + "#" + string(h.nb) + h.hpath("a")},
			{"path": h.hpath("a") + "#" + string(h.id("doca"))},
		},
		"fs.search": {
			{"query": "zqhdn.*", "regex": true},
			{"query": "hdn", "path": o.notePath("r")},
			{"query": ".", "regex": true, "pageSize": 200},
			{"query": "common", "path": h.hpath("a")},
		},
		"fs.tree":                  {{"path": "/", "maxDepth": 20}, {"path": o.notePath("r")}},
		"notebook.get_permissions": {{"notebook": "all"}, {"notebook": h.name()}},
		"notebook.get_child_docs":  {{"notebook": o.nb, "page": 2, "pageSize": 1}, {"notebook": h.name()}},
		"document.lookup": {
			{"notebook": o.nb, "path": h.path("a")},
			{"notebook": h.nb, "path": o.path("a")},
			{"notebook": o.nb, "hpath": h.hpath("a")},
			{"notebook": h.nb, "hpath": o.hpath("a")},
			{"id": h.nb},
			{"id": h.id("item")},
			{"notebook": o.nb, "path": h.notePath("a")},
			{"notebook": o.nb, "path": h.childPath("c")},
		},
		"document.list_tree": {
			{"notebook": o.nb, "path": h.path("a")}, {"notebook": h.nb, "path": o.path("a")}, {"notebook": o.nb, "path": "/", "maxDepth": 10},
		},
		"document.search_docs": {
			{"notebook": o.nb, "query": "zqhdn", "path": h.path("a")}, {"notebook": o.nb, "query": "zq", "path": h.hpath("a")},
		},
		"document.get_doc":          {{"id": o.id("docr")}, {"id": o.id("docr"), "mode": "html"}, {"id": h.nb}, {"id": o.nb}, {"id": h.id("para"), "mode": "html"}},
		"document.get_outline":      {{"id": o.id("doca"), "preview": true}, {"id": h.nb}},
		"document.get_child_docs":   {{"id": o.nb}, {"id": h.nb}},
		"document.get_child_blocks": {{"id": o.id("docr")}, {"id": h.nb}},
		"block.batch_kramdown": {
			{"ids": []any{h.id("para"), h.id("para"), o.id("re01"), h.nb, w.ghost.id("para")}},
			{"ids": []any{o.id("re04"), o.id("par4"), o.id("par2")}, "mode": "textmark"},
		},
		"block.get_kramdown":   {{"id": o.id("docr")}, {"id": o.id("re04")}, {"id": h.nb}, {"id": o.nb}, {"id": o.id("dbbl")}},
		"block.dom":            {{"id": o.id("docr")}, {"id": o.id("re04")}, {"id": o.id("dbbl")}, {"id": h.nb}},
		"block.info":           {{"id": o.id("docr")}, {"id": h.nb}, {"id": o.nb}},
		"block.breadcrumb":     {{"id": o.id("item")}, {"id": h.id("item")}, {"id": o.id("parc")}},
		"block.get_attrs":      {{"id": o.id("doca")}, {"id": o.id("par2")}, {"id": o.id("par3")}, {"id": o.id("par4")}, {"id": h.nb}},
		"block.get_children":   {{"id": o.nb}, {"id": h.nb}, {"id": o.id("supr")}, {"id": h.id("supr")}},
		"block.word_count":     {{"ids": []any{o.id("doca")}}, {"ids": []any{o.id("docr")}}, {"ids": []any{h.id("para"), o.id("para")}}},
		"block.docs_info":      {{"id": o.id("docr"), "refCount": true, "av": true}, {"ids": []any{o.id("docb"), h.id("docb")}}, {"id": o.id("doca")}},
		"block.recent_updated": {{}, {"count": 1}, {"count": 3}},
		"av.get":               {{"id": o.id("daba"), "blockID": h.id("dbbl")}, {"id": h.id("daba"), "blockID": o.id("dbbl")}, {"id": h.id("daba"), "blockID": h.id("dbbl")}},
		"av.render": {
			{"id": h.id("daba"), "blockID": o.id("dbbl")},
			{"id": o.id("daba"), "query": h.word("four")},
			{"id": o.id("daba"), "query": h.word("cell")},
			{"id": o.id("daba"), "blockID": h.id("dbbl")},
			{"id": o.id("daba"), "pageSize": 1, "page": 2},
			{"id": h.id("daba"), "createIfNotExist": false},
		},
		"av.get_attribute_view_filter_sort": {{"id": o.id("daba"), "blockID": h.id("dbbl")}, {"id": h.id("daba"), "blockID": o.id("dbbl")}},
		"av.get_primary_key_values":         {{"avID": o.id("daba"), "keyword": h.word("four")}, {"avID": h.id("daba"), "keyword": "zq"}},
		"file.get_doc_assets":               {{"id": o.id("doca"), "assetType": "image"}, {"id": h.id("doca"), "assetType": "image"}, {"id": o.id("docr")}},
		"file.get_image_ocr_text":           {{"path": sharedPic}, {"path": h.ownAsset("own")}, {"path": "assets/" + h.word("own") + ".png"}, {"path": "/data/" + h.asset("pic")}},
		"file.extract_doc":                  {{"id": o.id("doca"), "outputDir": "zqout"}, {"id": o.id("docr"), "outputDir": "zqout"}},
		"file.export_md":                    {{"id": o.id("doca")}, {"id": o.id("docr")}, {"id": o.id("re04")}, {"id": h.nb}, {"id": o.nb}},
		"file.list_templates":               {{"query": "zq"}, {"query": "zqhdn"}},
		"file.read_template":                {{"path": h.path("a")}, {"path": "../" + string(h.nb) + h.path("a")}},
		"tag.list":                          {{"sort": 1}, {"query": sharedTag}},
		"system.conf": {
			{"maxDepth": 5, "maxItems": 100}, {"mode": "get", "keyPath": "tag"}, {"mode": "get", "keyPath": "fileTree"}, {"mode": "get", "keyPath": "search"},
		},
		"flashcard.list_cards": {
			{"scope": "all", "filter": "new"},
			{"scope": "all", "filter": "old"},
			{"scope": "deck", "deckID": kernel.BuiltInDeck},
			{"scope": "notebook", "notebook": o.nb},
			{"scope": "tree", "rootID": h.nb},
			{"scope": "tree", "rootID": o.nb},
			{"scope": "all", "reviewedCards": []any{object{"cardID": h.cardID("par2")}}},
			{"scope": "deck", "deckID": h.id("deck")},
		},
		"flashcard.get_cards": {
			{"deckID": "", "pageSize": 1}, {"deckID": "", "pageSize": 1, "page": 3}, {"deckID": w.deck}, {"deckID": h.id("deck")},
		},
		"search.get_backlinks":     {{"id": h.id("par3")}, {"id": h.id("doca")}, {"id": o.id("para"), "refTreeID": h.id("doca")}, {"id": h.nb}},
		"search.search_refs":       {{"id": o.id("para"), "k": "", "isDatabase": true}, {"id": o.id("para"), "k": "zq", "isSquareBrackets": true}, {"id": o.id("para"), "k": "common", "rootID": h.id("doca")}},
		"search.list_invalid_refs": {{"page": 2}, {"pageSize": 1}},
		"search.search_assets":     {{"query": ""}, {"query": "", "exts": []any{".png"}}},
	}
	for _, part := range []string{"doca", "docb", "para", "par2", "par3", "head", "attr", "item", "docr"} {
		out["search.get_backlinks"] = append(out["search.get_backlinks"], object{"id": o.id(part)}, object{"id": o.id(part), "mode": "mentions"}, object{"id": o.id(part), "mode": "links", "keyword": "zqhdn"})
	}
	for _, part := range []string{"docs", "co01", "co02", "co03", "co05", "co08"} {
		for _, act := range []string{"block.get_kramdown", "block.dom", "block.get_children", "block.breadcrumb", "search.get_backlinks"} {
			out[act] = append(out[act], object{"id": o.id(part)})
		}
	}
	for _, act := range []string{"document.get_doc", "document.get_outline", "document.get_child_blocks", "file.export_md", "block.docs_info"} {
		out[act] = append(out[act], object{"id": o.id("docs")})
	}
	out["fs.read"] = append(out["fs.read"], object{"path": o.notePath("s"), "tokenBudget": 32000})
	out["document.get_doc"] = append(out["document.get_doc"], object{"id": o.id("docs"), "mode": "html"})
	out["document.heading_to_doc"] = append(out["document.heading_to_doc"], object{"headingID": o.id("co02"), "targetNotebook": o.nb, "validateOnly": true})
	w.addSearches(out)
	w.addStatements(out)
	return out
}

// addSearches adds searches for each word, with the actions that search.
func (w *workspace) addSearches(out map[string][]object) {
	o, h := w.open, w.hidden
	for _, word := range w.searchWords() {
		for act, args := range map[string]object{
			"fs.search": {"query": word}, "av.search": {"keyword": word}, "tag.list": {"query": word}, "search.search_assets": {"query": word},
			"document.search_docs": {"notebook": o.nb, "query": word}, "search.fulltext_asset_content": {"query": word},
			"search.get_backlinks": {"id": o.id("para"), "keyword": word}, "search.search_refs": {"id": o.id("para"), "k": word},
		} {
			out[act] = append(out[act], args)
		}
		out["search.fulltext"] = append(out["search.fulltext"], object{"query": word, "pageSize": 128}, object{"query": word, "groupBy": 1, "stripHtml": true},
			object{"query": word, "pageSize": 1, "page": 2}, object{"query": word, "orderBy": "relevance"}, object{"query": word, "hasTags": true})
	}
	out["search.fulltext"] = append(out["search.fulltext"],
		object{"query": "zqhdn.*", "method": "regex"}, object{"query": "zqhdn*", "method": "query_syntax"}, object{"query": "common NOT zqopn", "method": "query_syntax"},
		object{"query": "SELECT * FROM blocks WHERE content LIKE '%zqhdn%'", "method": "sql"}, object{"query": "common", "paths": []any{h.nb}},
		object{"query": "common", "paths": []any{string(h.nb) + h.path("a")}}, object{"query": "common", "paths": []any{o.nb, h.nb}},
		object{"query": "common", "paths": []any{w.ghost.nb}}, object{"query": "common", "typeShortcodes": []any{"d"}})
}

// addStatements adds SQL statements that try to reach hidden content.
func (w *workspace) addStatements(out map[string][]object) {
	o, h := w.open, w.hidden
	for _, stmt := range []string{
		"SELECT * FROM blocks LIMIT 1000", "SELECT count(*) AS n FROM blocks", "SELECT DISTINCT box FROM blocks LIMIT 100",
		"SELECT * FROM blocks WHERE box = '" + string(h.nb) + "' LIMIT 10", "SELECT * FROM blocks WHERE id = '" + string(h.id("para")) + "' LIMIT 10",
		"SELECT '" + string(o.nb) + "' AS box, content FROM blocks WHERE content LIKE '%zqhdn%' LIMIT 10",
		"SELECT content AS id, id AS content, box FROM blocks ORDER BY content LIMIT 1000",
		"SELECT * FROM refs LIMIT 1000", "SELECT * FROM refs WHERE def_block_id = '" + string(h.id("par2")) + "' LIMIT 10",
		"SELECT def_block_path, def_block_root_id, def_block_parent_id FROM refs LIMIT 100",
		"SELECT * FROM spans LIMIT 1000", "SELECT * FROM attributes LIMIT 1000", "SELECT * FROM assets LIMIT 1000", "SELECT * FROM file_annotation_refs LIMIT 10",
		"SELECT * FROM stat LIMIT 10", "SELECT * FROM blocks_fts WHERE blocks_fts MATCH 'common' LIMIT 1000", "SELECT * FROM blocks_fts LIMIT 1000",
		"SELECT count(*) FROM blocks_fts WHERE blocks_fts MATCH 'zqhdntwo'", "SELECT * FROM main.blocks LIMIT 1000", `SELECT * FROM "main"."blocks" LIMIT 1000`,
		"SELECT * FROM `blocks` LIMIT 1000", `SELECT * FROM "blocks" LIMIT 1000`, "SELECT * FROM [blocks] LIMIT 1000", "SELECT * FROM BLOCKS LIMIT 1000", "SELECT * FROM sqlite_master LIMIT 100",
		"SELECT * FROM blocks_fts_content LIMIT 100", "SELECT * FROM blocks_fts_data LIMIT 100", "SELECT * FROM blocks_fts_docsize LIMIT 100", "SELECT * FROM pragma_table_info('blocks') LIMIT 10",
		"WITH blocks AS (SELECT * FROM main.blocks) SELECT * FROM blocks LIMIT 1000", "WITH x AS (SELECT * FROM blocks) SELECT content FROM x LIMIT 1000",
		"WITH RECURSIVE t(x) AS (SELECT content FROM blocks LIMIT 1000) SELECT * FROM t LIMIT 1000",
		"SELECT a.content, b.content AS other FROM blocks a LEFT JOIN blocks b ON b.id <> a.id AND b.content LIKE '%zqhdn%' LIMIT 1000",
		"SELECT id, (SELECT group_concat(content) FROM blocks) AS everything FROM blocks LIMIT 5",
		"SELECT group_concat(content) AS everything, max(box) AS last, min(updated) AS first FROM blocks", "SELECT hex(content) AS x FROM blocks LIMIT 1000",
		"SELECT * FROM blocks WHERE id IN (SELECT def_block_id FROM refs) LIMIT 100", "SELECT r.*, b.* FROM refs r, blocks b WHERE b.id = r.def_block_id LIMIT 1000",
		"SELECT * FROM blocks UNION SELECT * FROM blocks LIMIT 1000", "SELECT content FROM blocks INTERSECT SELECT content FROM blocks LIMIT 1000",
		"SELECT snippet(blocks_fts, 0, '', '', '', 64) FROM blocks_fts WHERE blocks_fts MATCH 'zqhdn*' LIMIT 10",
		"SELECT EXISTS(SELECT 1 FROM blocks WHERE content LIKE '%zqhdn%') AS x", "SELECT rowid, * FROM blocks ORDER BY rowid DESC LIMIT 1000",
		"SELECT * FROM blocks_fts_case_insensitive LIMIT 1000", "SELECT /* box */ * FROM/**/blocks LIMIT 1000", "SELECT * FROM blocks; SELECT * FROM blocks", "PRAGMA database_list",
		"SELECT nosuch FROM blocks LIMIT 3", "SELECT * FROM nosuch", "SELECT sum(length) AS n, avg(sort) AS m, total(length) AS t FROM blocks",
		"VALUES((SELECT group_concat(id) FROM blocks))", "SELECT * FROM (VALUES(1)), blocks LIMIT 1000", "SELECT json_group_array(content) FROM blocks",
		"SELECT content FROM main . blocks LIMIT 10", "SELECT content FROM temp.blocks LIMIT 10", "EXPLAIN SELECT * FROM blocks", "TABLE blocks",
	} {
		out["search.query_sql"] = append(out["search.query_sql"], object{"stmt": stmt, "maxRows": 1000})
	}
}

// invalidProbes returns calls with invalid arguments, whose errors might reveal too much.
func (w *workspace) invalidProbes() []probe {
	h := w.hidden
	var out []probe
	known := actionsByName()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		a := known[name]
		out = append(out, probe{act: name, args: object{"nosuch": h.word("two")}})
		if name == "notebook.create" {
			continue // every name is valid for a new notebook
		}
		for _, p := range a.Params() {
			out = append(out, probe{act: name, args: object{p.Name: string(h.id("para"))}}, probe{act: name, args: object{p.Name: []any{h.id("doca"), 7}}})
		}
		if a.Class != action.Reads && len(a.Params()) > 0 {
			out = append(out, probe{act: name, args: object{a.Params()[0].Name: h.notePath("a"), "requestId": string(h.nb), "ifMatch": fmt.Sprintf("%x", h.word("two"))}})
		}
	}
	return out
}
