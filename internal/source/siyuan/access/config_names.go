package access

// Former names of actions, which older tool configs use, and members of tool configs that are not tools.

// flatNames maps names from when every action was a tool of its own to the current tool and action. Several names may
// map to one action. An empty target means that the action is gone.
var flatNames = map[string]currentAction{
	"list_notebooks":    {"notebook", "list"},
	"create_notebook":   {"notebook", "create"},
	"open_notebook":     {"notebook", "set_open_state"},
	"close_notebook":    {"notebook", "set_open_state"},
	"remove_notebook":   {"notebook", "remove"},
	"rename_notebook":   {"notebook", "rename"},
	"get_notebook_conf": {"notebook", "get_conf"},
	"set_notebook_conf": {"notebook", "set_conf"},

	"create_document":       {"document", "create"},
	"create_empty_doc":      {"document", "create"},
	"rename_document":       {"document", "rename"},
	"rename_document_by_id": {"document", "rename"},
	"remove_document":       {"document", "remove"},
	"remove_document_by_id": {"document", "remove"},
	"remove_docs":           {"document", "remove"},
	"move_documents":        {"document", "move"},
	"move_documents_by_id":  {"document", "move"},
	"get_document_path":     {"document", "lookup"},
	"get_hpath_by_path":     {"document", "lookup"},
	"get_hpath_by_id":       {"document", "lookup"},
	"get_ids_by_hpath":      {"document", "lookup"},
	"list_doc_tree":         {"document", "list_tree"},
	"search_docs":           {"document", "search_docs"},
	"get_doc":               {"document", "get_doc"},
	"create_daily_note":     {"document", "create_daily_note"},
	"duplicate_doc":         {"document", "duplicate"},
	"heading_to_doc":        {"document", "heading_to_doc"},
	"doc_to_heading":        {"document", "doc_to_heading"},

	"insert_block":              {"block", "insert"},
	"batch_insert_block":        {"block", "insert"},
	"prepend_block":             {"block", "prepend"},
	"append_block":              {"block", "append"},
	"update_block":              {"block", "update"},
	"batch_update_block":        {"block", "update"},
	"delete_block":              {"block", "delete"},
	"move_block":                {"block", "move"},
	"fold_block":                {"block", "set_fold_state"},
	"unfold_block":              {"block", "set_fold_state"},
	"get_block_kramdown":        {"block", "get_kramdown"},
	"get_child_blocks":          {"block", "get_children"},
	"transfer_block_ref":        {"block", "transfer_references"},
	"set_block_attrs":           {"block", "set_attrs"},
	"get_block_attrs":           {"block", "get_attrs"},
	"check_block_exist":         {"block", "info"},
	"get_block_info":            {"block", "info"},
	"get_block_breadcrumb":      {"block", "breadcrumb"},
	"get_block_dom":             {"block", "dom"},
	"get_recent_updated_blocks": {"block", "recent_updated"},
	"get_blocks_word_count":     {"block", "word_count"},
	"append_daily_note_block":   {"block", "add_to_daily_note"},
	"prepend_daily_note_block":  {"block", "add_to_daily_note"},
	"get_doc_info":              {"block", "docs_info"},
	"get_docs_info":             {"block", "docs_info"},

	"get_attribute_view":                    {"av", "get"},
	"render_attribute_view":                 {"av", "render"},
	"get_attribute_view_keys":               {"av", "get_attribute_view_keys"},
	"get_attribute_view_filter_sort":        {"av", "get_attribute_view_filter_sort"},
	"search_attribute_view":                 {"av", "search"},
	"add_attribute_view_blocks":             {"av", "add_rows"},
	"remove_attribute_view_blocks":          {"av", "remove_rows"},
	"add_attribute_view_key":                {"av", "add_column"},
	"remove_attribute_view_key":             {"av", "remove_column"},
	"set_attribute_view_block_attr":         {"av", "set_cells"},
	"batch_set_attribute_view_block_attrs":  {"av", "set_cells"},
	"duplicate_attribute_view_block":        {"av", "duplicate"},
	"get_attribute_view_primary_key_values": {"av", "get_primary_key_values"},

	"upload_asset":         {"file", "upload_asset"},
	"render_template":      {"file", "render"},
	"render_sprig":         {"file", "render"},
	"export_md_content":    {"file", "export_md"},
	"export_resources":     {"file", "export_resources"},
	"get_unused_assets":    {"file", "list_unused_assets"},
	"get_doc_assets":       {"file", "get_doc_assets"},
	"get_doc_image_assets": {"file", "get_doc_assets"},
	"get_image_ocr_text":   {"file", "get_image_ocr_text"},
	"remove_unused_assets": {"file", "remove_unused_assets"},
	"rename_asset":         {"file", "rename_asset"},
	"delete_asset":         {"file", "delete_asset"},

	"search_ref_block":               {"search", "search_refs"},
	"find_replace":                   {"search", "find_replace"},
	"search_asset":                   {"search", "search_assets"},
	"get_asset_content":              {"search", "fulltext_asset_content"},
	"full_text_search_asset_content": {"search", "fulltext_asset_content"},
	"list_invalid_block_refs":        {"search", "list_invalid_refs"},

	"push_msg":           {"system", "notify"},
	"push_err_msg":       {"system", "notify"},
	"get_version":        {"system", "get_version"},
	"get_current_time":   {"system", "get_current_time"},
	"get_workspace_info": {"system", "workspace_info"},
	"get_network":        {"system", "network"},
	"get_system_conf":    {"system", "conf"},
	"get_changelog":      {"system", "changelog"},

	"get_tag":    {"tag", "list"},
	"rename_tag": {"tag", "rename"},
	"remove_tag": {"tag", "remove"},

	"list_flashcards":       {"flashcard", "list_cards"},
	"get_flashcard_decks":   {"flashcard", "get_decks"},
	"get_flashcard_cards":   {"flashcard", "get_cards"},
	"review_flashcard":      {"flashcard", "review_card"},
	"skip_flashcard_review": {"flashcard", "review_card"},
	"create_flashcard":      {"flashcard", "create_card"},
	"add_flashcard":         {"flashcard", "create_card"},
	"remove_flashcard":      {"flashcard", "remove_card"},

	"get_mascot_balance": {"mascot", "get_balance"},
	"get_mascot_shop":    {"mascot", "shop"},
	"buy_mascot_item":    {"mascot", "buy"},

	"set_image_alpha":   {},
	"get_sys_fonts":     {},
	"get_boot_progress": {},
}

// currentAction is what an action is called now.
type currentAction struct{ tool, action string }

// formerNames maps former names of actions within their tool: tool → old name → current name.
var formerNames = map[string]map[string]string{
	"notebook": {"open": "set_open_state", "close": "set_open_state"},
	"document": {
		"get_path": "lookup", "get_hpath": "lookup", "get_ids": "lookup",
		"remove_batch": "remove", "create_empty": "create",
		"set_icon": "set_attr", "set_cover": "set_attr", "clear_cover": "set_attr",
	},
	"block": {
		"exists": "info", "doc_info": "docs_info",
		"batch_insert": "insert", "batch_update": "update", "transfer_ref": "transfer_references",
		"append_daily_note": "add_to_daily_note", "prepend_daily_note": "add_to_daily_note",
		"fold": "set_fold_state", "unfold": "set_fold_state",
	},
	"av": {
		"set_cell": "set_cells", "batch_set_cells": "set_cells",
		"render_attribute_view": "render", "duplicate_block": "duplicate",
	},
	"file":      {"render_template": "render", "render_sprig": "render"},
	"system":    {"push_msg": "notify", "push_err_msg": "notify"},
	"flashcard": {"skip_review_card": "review_card", "add_card": "create_card"},
}

// elsewhereNames are members of a tool config that are not names of tools, or of tools that are not known here.
var elsewhereNames = map[string]bool{
	"extension": true, "feedback": true, "mcpApps": true, "userRulesText": true,
	"agentSiyuanMemoryText": true, "agentSiyuanMemoryUpdatedAt": true,
	"writeSafety": true, "errorReporting": true, "debug": true, "readOnlyTools": true,
	"timeline": true,
}
