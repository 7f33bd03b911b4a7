package siyuan_test

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/event"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// TestSoftErrors: with errorReporting.softRecoverableErrors an error that a model can fix reaches the model as a
// result, whichever stage found it, and is still recorded as an error. Errors that a model cannot fix stay errors, as do
// those for a person at a terminal, and an unknown action, for which there is no source.
func TestSoftErrors(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	nb := k.Notebook("Notes")
	k.Doc(nb, "/Doc", "text")
	k.File("/data/storage/petal/collie/mcpToolsConfig", []byte(`{"errorReporting":{"softRecoverableErrors":true},"fs":{"actions":{"tree":false}}}`))
	c := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
	t.Cleanup(c.Close)
	s := siyuan.New(siyuan.Options{Kernel: c})
	t.Cleanup(s.Close)
	catalog := source.New([]tool.Source{s}, source.Options{})
	t.Cleanup(catalog.Close)
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	bus := &event.Bus[tool.CallDone]{}
	p := pipeline.New(catalog, pipeline.Options{Audit: log, Bus: bus})
	run := func(origin tool.Origin, args string) (tool.Result, error) {
		return p.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "fs", Origin: origin, Args: json.RawMessage(args)})
	}
	if _, err := run(tool.MCPLocal, `{"action":"read","path":"/Notes/Doc"}`); err != nil {
		t.Fatal(err) // and the config has been read
	}
	ended := bus.Subscribe(16)
	softened := map[string]string{
		`{"action":"read","path":"/Notes/Missing"}`:                  "not_found",
		`{"action":"read","path":"/Notes/Doc","blockStart":"first"}`: "validation_error",
		`{"action":"read","file":"/Notes/Doc"}`:                      "validation_error",
		`{"action":"tree","path":"/Notes"}`:                          "disabled_error",
	}
	for args, want := range softened {
		got, err := run(tool.MCPLocal, args)
		if err != nil || got.IsError || gjson.GetBytes(got.Raw, "isError").Exists() {
			t.Errorf("%s: %s, %v", args, got.Raw, err)
			continue
		}
		if e := gjson.GetBytes(got.Raw, "structuredContent.error"); e.Get("type").String() != want || !e.Get("softened").Bool() {
			t.Errorf("%s: error %s, want a soft %s", args, e.Raw, want)
		}
	}
	for range len(softened) {
		if done := <-ended.C(); done.Err == nil {
			t.Errorf("on record the call with %s ended as %s", done.Call.Args, done.Outcome)
		}
	}
	ended.Close()
	if _, err := run(tool.Direct, `{"action":"read","path":"/Notes/Missing"}`); tool.KindOf(err) != tool.NotFound {
		t.Errorf("at a terminal: %v", err)
	}
	for _, args := range []string{`{"action":"list_nodes"}`, `{"action":"help"}`, `{}`} { // off by default, which refuses help and calls without an action too
		if _, err := p.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "timeline", Origin: tool.Direct, Args: json.RawMessage(args)}); tool.KindOf(err) != tool.Disabled {
			t.Errorf("timeline %s: %v, want an error of kind %s", args, err, tool.Disabled)
		}
	}
	for args, want := range map[string]tool.ErrorKind{
		`{"action":"write","path":"/Notes/New","markdown":"x"}`: tool.Denied,
		`{"action":"sing"}`: tool.Invalid,
	} {
		if got, err := run(tool.MCPLocal, args); tool.KindOf(err) != want {
			t.Errorf("%s: %s, %v; want an error of kind %s", args, got.Raw, err, want)
		}
	}
}
