package notes_test

import (
	"os"
	"path/filepath"

	"collie/internal/source/siyuan/kernel"
)

// This file lists the uses of the actions of all tools except fs, notebook, document and block, with the level that
// each one needs. See useCase for the fields.

var avCases = []useCase{
	{act: "av.get", need: r, args: byID("daba")},
	{act: "av.get", how: "block", need: r, args: func(_ *workspace, p *place) object { return object{"id": p.id("daba"), "blockID": p.id("dbbl")} }},
	{act: "av.render", need: r, args: func(_ *workspace, p *place) object { return object{"id": p.id("daba"), "pageSize": -1} }},
	{act: "av.render", how: "new", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": "20240102030405-zqnewdb", "blockID": p.id("par4"), "createIfNotExist": true}
	}},
	{act: "av.get_attribute_view_keys", need: r, args: byID("daba")},
	{act: "av.get_attribute_view_filter_sort", need: r, args: byID("daba")},
	{act: "av.search", kind: filtersResult, showsWord: "dbname", args: func(*workspace, *place) object { return object{"keyword": "common"} }},
	{act: "av.rename", need: rw, args: func(_ *workspace, p *place) object { return object{"avID": p.id("daba"), "name": "other"} }},
	{act: "av.add_rows", need: rw, args: func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "primaryKeyTexts": []string{"new row"}}
	}},
	{act: "av.add_rows", how: "bound", need: rw, args: func(w *workspace, p *place) object {
		return object{"avID": w.open.id("daba"), "blockIDs": []any{w.open.id("par4"), p.id("par4")}}
	}},
	{act: "av.remove_rows", need: rw, args: func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "srcIDs": []any{p.id("rowd")}}
	}},
	{act: "av.add_column", need: rw, args: func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "keyName": "new", "keyType": "number"}
	}},
	{act: "av.remove_column", need: rw, args: func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "keyID": p.id("colt")}
	}},
	{act: "av.set_cells", need: rw, args: func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "rowID": p.id("rowd"), "columnID": p.id("colt"), "valueType": "text", "text": "new"}
	}},
	{act: "av.duplicate", need: rw, args: func(_ *workspace, p *place) object { return object{"avID": p.id("daba")} }},
	{act: "av.duplicate", how: "to", need: rw, args: func(w *workspace, p *place) object {
		return object{"avID": w.open.id("daba"), "previousID": p.id("par4")}
	}},
	{act: "av.get_primary_key_values", need: r, args: func(_ *workspace, p *place) object { return object{"avID": p.id("daba")} }},
}

var fileCases = []useCase{
	{act: "file.upload_asset", kind: anyLevel, writes: true, args: func(*workspace, *place) object {
		return object{"localFilePath": "zqlocal.txt"}
	}},
	{act: "file.list_templates", kind: anyLevel, args: noArgs},
	{act: "file.read_template", kind: anyLevel, args: func(*workspace, *place) object { return object{"path": "zqtemplate.md"} }},
	{act: "file.render", how: "template", need: r, args: func(_ *workspace, p *place) object {
		return object{"engine": "template", "id": p.id("doca"), "path": "zqtemplate.md"}
	}},
	{act: "file.render", how: "template that queries", kind: needsEverywhere, need: r, args: func(_ *workspace, p *place) object {
		return object{"engine": "template", "id": p.id("doca"), "path": "zqquery.md"}
	}},
	{act: "file.render", how: "sprig", kind: anyLevel, args: func(*workspace, *place) object {
		return object{"engine": "sprig", "template": "{{now | date \"2006\"}}"}
	}},
	{act: "file.render", how: "sprig that queries", kind: needsEverywhere, need: r, args: func(*workspace, *place) object {
		return object{"engine": "sprig", "template": "{{ queryBlocks \"SELECT * FROM blocks\" | len }}"}
	}},
	{act: "file.export_md", need: r, args: byID("docb")},
	{act: "file.export_resources", need: r, args: func(_ *workspace, p *place) object {
		return object{"paths": []any{"/data/" + p.asset("pic")}, "name": "zqzip"}
	}},
	{act: "file.export_resources", how: "own folder", need: r, args: func(w *workspace, p *place) object {
		return object{"paths": []any{"/data/" + w.open.ownAsset("own"), "/data/" + p.ownAsset("own")}}
	}},
	{act: "file.list_unused_assets", kind: filtersResult, args: noArgs},
	{act: "file.get_doc_assets", need: r, args: byID("doca")},
	{act: "file.get_image_ocr_text", need: r, args: func(_ *workspace, p *place) object { return object{"path": p.asset("pic")} }},
	{act: "file.remove_unused_assets", kind: needsEverywhere, need: rwd, args: noArgs},
	{act: "file.rename_asset", need: rw, args: func(_ *workspace, p *place) object { return object{"oldPath": p.asset("pic"), "newName": "zq other"} }},
	{act: "file.delete_asset", need: rwd, args: func(_ *workspace, p *place) object { return object{"path": p.ownAsset("lone"), "force": true} }},
	{act: "file.delete_asset", how: "in use", need: rwd, args: func(_ *workspace, p *place) object { return object{"path": p.asset("pic"), "force": true} }},
	{act: "file.extract_doc", need: r, args: func(_ *workspace, p *place) object { return object{"id": p.id("docb"), "outputDir": "zqout"} }},
}

// writeUploadFile creates the local file that the case of file.upload_asset uploads.
func writeUploadFile(r *gateway) {
	r.must(os.WriteFile(filepath.Join(r.localDir, "zqlocal.txt"), []byte("local"), 0o600))
}

var searchCases = []useCase{
	{act: "search.fulltext", kind: filtersResult, showsWord: "two", args: func(*workspace, *place) object { return object{"query": "common", "pageSize": 128} }},
	{act: "search.fulltext", how: "below", need: r, args: func(_ *workspace, p *place) object {
		return object{"query": "common", "parentId": p.id("doca")}
	}},
	{act: "search.query_sql", kind: filtersResult, showsWord: "two", args: func(*workspace, *place) object {
		return object{"sql": "SELECT id, content, box FROM blocks WHERE content LIKE '%common%' LIMIT 500", "maxRows": 500}
	}},
	{act: "search.get_backlinks", need: r, args: byID("par3")},
	{act: "search.search_refs", need: r, args: byID("par3")},
	{act: "search.find_replace", need: rw, args: func(w *workspace, p *place) object {
		return object{"k": "spare", "r": "new", "ids": []any{w.open.id("par4"), p.id("par4")}}
	}},
	{act: "search.search_assets", kind: filtersResult, showsWord: "pic", args: func(*workspace, *place) object { return object{"query": "zq"} }},
	{act: "search.fulltext_asset_content", kind: filtersResult, args: func(*workspace, *place) object { return object{"query": "common"} }},
	{act: "search.list_invalid_refs", kind: filtersResult, args: noArgs},
}

var tagCases = []useCase{
	{act: "tag.list", kind: filtersResult, showsWord: "tag", args: noArgs},
	{act: "tag.rename", need: rw, args: func(_ *workspace, p *place) object {
		return object{"oldLabel": p.word("tag"), "newLabel": "zq new tag"}
	}},
	{act: "tag.remove", need: rwd, args: func(_ *workspace, p *place) object { return object{"label": p.word("tag")} }},
}

var systemCases = []useCase{
	{act: "system.workspace_info", kind: anyLevel, args: noArgs},
	{act: "system.network", kind: anyLevel, args: noArgs},
	{act: "system.conf", kind: anyLevel, args: noArgs},
	{act: "system.notify", kind: anyLevel, writes: true, args: func(*workspace, *place) object { return object{"msg": "hello", "level": "info"} }},
	{act: "system.get_version", kind: anyLevel, args: noArgs},
	{act: "system.get_current_time", kind: anyLevel, args: noArgs},
	{act: "system.bootstrap", kind: filtersResult, showsWord: "name", args: noArgs},
}

var flashcardCases = []useCase{
	{act: "flashcard.list_cards", how: "all", kind: filtersResult, showsWord: "two", args: func(*workspace, *place) object { return object{"scope": "all"} }},
	{act: "flashcard.list_cards", how: "deck", kind: filtersResult, showsWord: "three", args: func(w *workspace, _ *place) object {
		return object{"scope": "deck", "deckID": w.deck}
	}},
	{act: "flashcard.list_cards", how: "notebook", need: r, args: func(_ *workspace, p *place) object { return object{"scope": "notebook", "notebook": p.nb} }},
	{act: "flashcard.list_cards", how: "tree", need: r, args: func(_ *workspace, p *place) object { return object{"scope": "tree", "rootID": p.id("doca")} }},
	{act: "flashcard.get_decks", kind: anyLevel, args: noArgs},
	{act: "flashcard.get_cards", kind: filtersResult, showsWord: "two", args: func(*workspace, *place) object { return object{"deckID": kernel.BuiltInDeck} }},
	{act: "flashcard.get_cards", how: "all", kind: filtersResult, showsWord: "three", args: func(*workspace, *place) object { return object{"deckID": ""} }},
	{act: "flashcard.review_card", need: r, writes: true, args: func(w *workspace, p *place) object {
		return object{"deckID": w.deck, "cardID": p.cardID("par3"), "rating": 3}
	}},
	{act: "flashcard.review_card", how: "skip", need: r, writes: true, args: func(_ *workspace, p *place) object {
		return object{"deckID": kernel.BuiltInDeck, "cardID": p.cardID("par2"), "skip": true}
	}},
	{act: "flashcard.create_card", need: rw, args: func(w *workspace, p *place) object { return object{"blockIDs": []any{w.open.id("par4"), p.id("par4")}} }},
	{act: "flashcard.remove_card", need: rw, args: func(w *workspace, p *place) object { return object{"blockIDs": []any{w.open.id("par2"), p.id("par2")}} }},
}

var mascotCases = []useCase{
	{act: "mascot.get_balance", kind: anyLevel, args: noArgs},
	{act: "mascot.shop", kind: anyLevel, args: noArgs},
	{act: "mascot.buy", kind: anyLevel, args: func(*workspace, *place) object { return object{"item_id": "milk"} }},
}

var timelineCases = []useCase{
	{act: "timeline.list_nodes", need: r, args: func(_ *workspace, p *place) object { return object{"scope": "document", "documentId": p.id("doca")} }},
	{act: "timeline.list_nodes", how: "all", kind: needsEverywhere, need: r, args: func(*workspace, *place) object { return object{"scope": "all"} }},
	{act: "timeline.create_node", need: rw, args: func(_ *workspace, p *place) object {
		return object{"name": "zq node", "scope": "document", "documentId": p.id("docb")}
	}},
	{act: "timeline.create_node", how: "global", kind: needsEverywhere, need: r, writes: true, args: func(*workspace, *place) object {
		return object{"name": "zq node", "scope": "global"}
	}},
	{act: "timeline.compare_recent", need: r, args: func(_ *workspace, p *place) object { return object{"documentId": p.id("doca")} }},
	{act: "timeline.rollback_document", need: rwd, noEffect: true, args: func(_ *workspace, p *place) object {
		return object{"documentId": p.id("docb"), "historyPath": "/history/2024-01-02-030405-update/" + string(p.nb) + p.path("b")}
	}},
}
