package access_test

import (
	"strings"

	"collie/internal/source/siyuan/access"
)

// known has the actions of all tools, written down by hand. A minus marks those that are off by default.
var known = func() access.Known {
	out := access.Known{}
	for tool, actions := range map[string]string{
		"fs":       "ls tree read write replace rm mv reorder search",
		"notebook": "list create set_open_state -remove rename get_conf set_conf set_icon get_permissions -set_permission get_child_docs",
		"document": "create lookup rename -remove move reorder get_child_blocks get_child_docs set_attr list_tree search_docs get_doc get_outline create_daily_note duplicate heading_to_doc doc_to_heading",
		"block":    "insert prepend append update replace -delete move set_fold_state get_kramdown batch_kramdown get_children transfer_references set_attrs get_attrs info breadcrumb dom recent_updated word_count add_to_daily_note docs_info",
		"av":       "get render get_attribute_view_keys get_attribute_view_filter_sort search rename add_rows remove_rows add_column remove_column set_cells duplicate get_primary_key_values",
		"file":     "upload_asset list_templates read_template render export_md export_resources list_unused_assets get_doc_assets get_image_ocr_text remove_unused_assets rename_asset delete_asset extract_doc",
		"search":   "fulltext query_sql get_backlinks search_refs find_replace search_assets fulltext_asset_content list_invalid_refs",
		"tag":      "list rename remove", "system": "-workspace_info network -conf notify get_version get_current_time bootstrap",
		"flashcard": "list_cards get_decks get_cards review_card create_card remove_card", "mascot": "get_balance shop buy",
		"timeline": "-list_nodes -get_node -compare -compare_recent",
	} {
		out[tool] = map[string]bool{}
		for action := range strings.FieldsSeq(actions) {
			name, off := strings.CutPrefix(action, "-")
			out[tool][name] = !off
		}
	}
	return out
}()

// writes reports whether an action writes, well enough for these tests: by its name.
func writes(_, action string) bool {
	for _, reads := range []string{"get", "list", "search", "ls", "tree", "read", "lookup", "render", "info", "fulltext", "query_sql", "dom", "shop"} {
		if strings.HasPrefix(action, reads) {
			return false
		}
	}
	return true
}
