package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/app"
	"collie/internal/tool"
)

// Calls are counted in the data folder. A report does not name calls of the user's own servers. Close writes
// the last calls to the file.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	cfg := loadSettings(t, `,"analytics":{"captureText":true}`)
	a := openApp(t, cfg, app.Options{Version: "9"})
	<-a.Servers.Started()
	const calls = 3
	for range calls {
		_, err := a.Pipeline.Do(t.Context(), tool.Request{
			Kind: tool.KindCall, Name: "s__echo", Args: json.RawMessage(`{"text":"token=geheim123456"}`), Origin: tool.Direct,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	usage, err := a.Usage(t.Context(), time.Time{}, time.Time{})
	overCLI := 0
	for _, day := range usage.Days {
		overCLI += day.Transports["cli"]
	}
	if err != nil || overCLI != calls || usage.Actions[0].Action != "echo" || usage.Actions[0].Count != calls {
		t.Errorf("after Close %+v, %v", usage, err)
	}
	var text []byte
	files, _ := filepath.Glob(filepath.Join(cfg.Paths.Data, "analytics", "*.jsonl"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, raw...)
	}
	if strings.Contains(string(text), "geheim") || !strings.Contains(string(text), `"requestText":"{\"text\":\"token=***\"}"`) {
		t.Errorf("kept %s", text)
	}
	p, err := app.OpenTelemetry(cfg, "9").Next(t.Context())
	if err != nil || p.Aggregates.TotalCalls != calls || len(p.Aggregates.ActionBreakdown) != 1 || p.Aggregates.ActionBreakdown[0].Tool != "other" {
		t.Errorf("report %+v, %v", p, err)
	}
}

// With analytics disabled there is no file.
func TestNoAnalytics(t *testing.T) {
	t.Parallel()
	cfg := loadSettings(t, `,"analytics":{"enabled":false},"telemetry":{"enabled":true,"endpoint":"http://127.0.0.1:9/"}`)
	a := openApp(t, cfg, app.Options{Servers: []string{}})
	_, _ = a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "nothing", Args: json.RawMessage(`{}`)})
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Paths.Data, "analytics")); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}
