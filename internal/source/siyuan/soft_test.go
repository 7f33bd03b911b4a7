package siyuan_test

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// TestSoftErrors: with errorReporting.softRecoverableErrors an error that a model can mend is a
// result for it; what it cannot mend, and what a person at a terminal gets, stays an error.
func TestSoftErrors(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	nb := k.Notebook("Notes")
	k.Doc(nb, "/Doc", "text")
	k.File("/data/storage/petal/collie/mcpToolsConfig", []byte(`{"errorReporting":{"softRecoverableErrors":true}}`))
	c := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
	t.Cleanup(c.Close)
	s := siyuan.New(siyuan.Options{Kernel: c})
	t.Cleanup(s.Close)
	run := func(origin tool.Origin, name, args string) (tool.Result, error) {
		return s.Run(t.Context(), &tool.Call{
			Kind: tool.KindCall, Tool: "fs", Action: &tool.Action{Name: name}, Origin: origin, Args: json.RawMessage(args),
		})
	}
	got, err := run(tool.MCPLocal, "read", `{"path":"/Notes/Missing"}`)
	if err != nil || got.IsError || gjson.GetBytes(got.Raw, "isError").Exists() {
		t.Fatalf("%s, %v", got.Raw, err)
	}
	if e := gjson.GetBytes(got.Raw, "structuredContent.error"); e.Get("type").String() != "not_found" || !e.Get("softened").Bool() {
		t.Errorf("error %s", e.Raw)
	}
	if _, err := run(tool.Direct, "read", `{"path":"/Notes/Missing"}`); tool.KindOf(err) != tool.Unknown {
		t.Errorf("at a terminal: %v", err)
	}
	if _, err := run(tool.MCPLocal, "write", `{"path":"/Notes/New","markdown":"x"}`); tool.KindOf(err) != tool.Denied {
		t.Errorf("what no model can mend: %v", err)
	}
}
