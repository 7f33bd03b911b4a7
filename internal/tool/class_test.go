package tool_test

import (
	"testing"

	"collie/internal/tool"
)

// Class follows from the declared or derived effects of an action and from words in its name.
func TestClass(t *testing.T) {
	for _, tt := range []struct {
		a    tool.Action
		want tool.Class
	}{
		{tool.Action{Name: "read", Risk: tool.RiskNone, Effects: tool.EffectRead}, tool.ClassRead},
		{tool.Action{Name: "write", Risk: tool.RiskHigh, Effects: tool.EffectWrite}, tool.ClassWrite},
		{tool.Action{Name: "mv", Risk: tool.RiskHigh, Effects: tool.EffectWrite}, tool.ClassMove},
		{tool.Action{Name: "rename", Risk: tool.RiskMedium, Effects: tool.EffectRead | tool.EffectWrite}, tool.ClassMove},
		{tool.Action{Name: "rm", Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete}, tool.ClassRemove},
		{tool.Action{Name: "buy", Risk: tool.RiskLow, Effects: tool.EffectCost}, tool.ClassWrite},
		{tool.Action{Name: "list_issues", ReadOnly: true}, tool.ClassRead},
		{tool.Action{Name: "create_issue"}, tool.ClassWrite},
		{tool.Action{Name: "move_file"}, tool.ClassMove},
		{tool.Action{Name: "renameFile"}, tool.ClassMove},
		{tool.Action{Name: "移动"}, tool.ClassMove},
		{tool.Action{Name: "批量移动文件"}, tool.ClassMove},
		{tool.Action{Name: "remove_file"}, tool.ClassRemove},
		{tool.Action{Name: "moved_and_deleted", Destructive: true}, tool.ClassRemove},
		{tool.Action{Name: "reset", Destructive: true, ReadOnly: true}, tool.ClassRemove},
		{tool.Action{Name: "remark"}, tool.ClassWrite},
	} {
		if got := tt.a.Class(); got != tt.want {
			t.Errorf("the class of %s is %s, expected %s", tt.a.Name, got, tt.want)
		}
	}
}
