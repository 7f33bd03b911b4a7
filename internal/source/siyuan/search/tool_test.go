package search_test

import (
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/search"
)

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, search.Tool(), actiontest.Told{
		Actions: []string{
			"fulltext", "query_sql", "get_backlinks", "search_refs", "find_replace", "search_assets", "fulltext_asset_content", "list_invalid_refs",
		},
		Dangerous: []string{"find_replace"},
		About:     100,
	})
}
