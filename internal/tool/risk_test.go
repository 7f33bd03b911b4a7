package tool_test

import (
	"testing"

	"collie/internal/tool"
)

// Rated uses the declared risk and effects, and otherwise derives them from the name, the hints and the description.
func TestRated(t *testing.T) {
	t.Parallel()
	const (
		unknown = tool.EffectRead | tool.EffectWrite
		removes = tool.EffectWrite | tool.EffectDelete
	)
	for _, tt := range []struct {
		a       tool.Action
		risk    tool.Risk
		effects tool.Effects
	}{
		{tool.Action{Name: "delete", Risk: tool.RiskLow, Effects: tool.EffectUI}, tool.RiskLow, tool.EffectUI}, // declared
		{tool.Action{Name: "get_file", ReadOnly: true}, tool.RiskNone, tool.EffectRead},
		{tool.Action{Name: "get_file", ReadOnly: true, Description: "Deleted files are not shown."}, tool.RiskNone, tool.EffectRead},
		{tool.Action{Name: "get_file", ReadOnly: true, Changed: true}, tool.RiskMedium, unknown},
		{tool.Action{Name: "get_file", ReadOnly: true, Destructive: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "delete_file", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "deleteFile", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "drive-files.removed", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "run_query", ReadOnly: true}, tool.RiskHigh, tool.EffectExecute},
		{tool.Action{Name: "runAndSend"}, tool.RiskHigh, tool.EffectExecute | tool.EffectEgress},
		{tool.Action{Name: "sends"}, tool.RiskHigh, tool.EffectEgress},
		{tool.Action{Name: "purchase2"}, tool.RiskHigh, tool.EffectCost},
		{tool.Action{Name: "get_file"}, tool.RiskMedium, unknown},
		{tool.Action{Name: "undeleted_prunes_execution"}, tool.RiskMedium, unknown},
		{tool.Action{Name: "x", Description: "Permanently? No: deletes nothing."}, tool.RiskMedium, unknown},
		{tool.Action{Name: "x", Description: " Deletes a file."}, tool.RiskHigh, removes},
		{tool.Action{Name: "x", Description: "删除共享日历"}, tool.RiskHigh, removes},
		{tool.Action{Name: "执行命令", ReadOnly: true}, tool.RiskHigh, tool.EffectExecute},
		{tool.Action{Name: "批量删除笔记", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "消息发送", ReadOnly: true}, tool.RiskHigh, tool.EffectEgress},
		{tool.Action{Name: "订单支付并发送", ReadOnly: true}, tool.RiskHigh, tool.EffectCost | tool.EffectEgress},
		{tool.Action{Name: "批量delete", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "delete笔记", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "查看笔记", ReadOnly: true}, tool.RiskNone, tool.EffectRead},
		{tool.Action{Name: "x", Description: "查看已删除的笔记"}, tool.RiskMedium, unknown},
		{tool.Action{Name: "DBDelete", ReadOnly: true}, tool.RiskHigh, removes},
		{tool.Action{Name: "runSQLExecNow", ReadOnly: true}, tool.RiskHigh, tool.EffectExecute},
		{tool.Action{Name: "SQLExec", ReadOnly: true}, tool.RiskHigh, tool.EffectExecute},
		{tool.Action{Name: "listCMDs", ReadOnly: true}, tool.RiskHigh, tool.EffectExecute},
		{tool.Action{Name: "listURLs", ReadOnly: true}, tool.RiskNone, tool.EffectRead},
		{tool.Action{Name: "update", Destructive: true}, tool.RiskHigh, removes},
		{tool.Action{}, tool.RiskMedium, unknown},
	} {
		if risk, effects := tt.a.Rated(); risk != tt.risk || effects != tt.effects {
			t.Errorf("%q, %q: risk %s, effects %q, want %s, %q", tt.a.Name, tt.a.Description, risk, effects, tt.risk, tt.effects)
		}
	}
	if got := (tool.EffectRead | tool.EffectUI).String(); got != "read ui" {
		t.Errorf("effects are called %q", got)
	}
}
