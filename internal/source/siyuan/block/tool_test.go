package block_test

import (
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
)

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, block.Tool(), actiontest.Told{
		Actions: []string{
			"insert", "prepend", "append", "update", "replace", "delete", "move", "set_fold_state", "get_kramdown", "batch_kramdown",
			"get_children", "transfer_references", "set_attrs", "get_attrs", "info", "breadcrumb", "dom", "recent_updated",
			"word_count", "add_to_daily_note", "docs_info",
		},
		Dangerous: []string{"delete", "move", "transfer_references"},
		Off:       []string{"delete"},
		About:     100,
	})
}
