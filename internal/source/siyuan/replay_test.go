package siyuan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// TestRemovalIsReplayed: a call that has removed or moved its target, and is sent again, gets its result again.
func TestRemovalIsReplayed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		replaced   bool // another document takes the place of the one that was there
	}{
		{"fs.rm", `"path":"/Work 工作/Plan 计划"`, false},
		{"fs.rm", `"path":"/Work 工作/Plan 计划"`, true},
		{"fs.mv", `"from":"/Work 工作/Plan 计划","to":"/Work 工作/Old"`, false},
		{"fs.mv", `"from":"/Work 工作/Plan 计划","to":"/Work 工作/Old"`, true},
		{"document.remove", `"id":"DOCUMENT"`, false},
		{"block.delete", `"id":"BLOCK"`, false},
		{"notebook.remove", `"notebook":"NOTEBOOK"`, false},
	} {
		t.Run(fmt.Sprint(c.name, c.replaced), func(t *testing.T) {
			t.Parallel()
			d := newReplayFixture(t)
			args := strings.NewReplacer("DOCUMENT", d.document, "BLOCK", d.block, "NOTEBOOK", d.notebook).Replace(c.args)
			args = fmt.Sprintf(`{%s,"requestId":%q}`, args, uuid.Must(uuid.NewV7()))
			first, err := d.run(t, c.name, args)
			if err != nil {
				t.Fatal(err)
			}
			if c.replaced {
				d.Doc(d.notebook, "/Plan 计划", "another")
			}
			d.ResetCalls()
			again, err := d.run(t, c.name, args)
			if err != nil || !again.Get("replayed").Bool() || again.Get("path").Str != first.Get("path").Str {
				t.Errorf("first %s, again %s, %v", first.Raw, again.Raw, err)
			}
			if writes := d.Writes(); len(writes) > 0 {
				t.Errorf("the second call wrote %v", writes)
			}
		})
	}
}

// TestReplayShowsNothingHidden: what a call has done in a notebook that is hidden by now is not told.
func TestReplayShowsNothingHidden(t *testing.T) {
	t.Parallel()
	d := newReplayFixture(t)
	args := fmt.Sprintf(`{"path":"/Work 工作/Plan 计划","requestId":%q}`, uuid.Must(uuid.NewV7()))
	if _, err := d.run(t, "fs.rm", args); err != nil {
		t.Fatal(err)
	}
	if _, err := d.source.Levels().Set(t.Context(), kernel.ID(d.notebook), access.None); err != nil {
		t.Fatal(err)
	}
	if got, err := d.run(t, "fs.rm", args); tool.KindOf(err) != tool.NotFound {
		t.Errorf("got %s, %v, want it not found", got.Raw, err)
	}
}

func newReplayFixture(t *testing.T) *fixture {
	t.Helper()
	d := newFixture(t)
	d.File("/data/storage/petal/collie/mcpToolsConfig", []byte(`{"document":{"actions":{"remove":true}},"block":{"actions":{"delete":true}},"notebook":{"actions":{"remove":true}}}`))
	d.source = siyuan.New(siyuan.Options{Kernel: d.source.Kernel(), Safety: safety.Open(safety.Options{Dir: t.TempDir()})})
	t.Cleanup(d.source.Close)
	return d
}

// run runs "tool.action" and returns its structured result.
func (d *fixture) run(t *testing.T, name, args string) (gjson.Result, error) {
	t.Helper()
	tl, act, _ := strings.Cut(name, ".")
	res, err := d.source.Run(t.Context(), &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal},
		Tool:    tl, Action: &tool.Action{Name: act}, Args: json.RawMessage(args),
	})
	return gjson.GetBytes(res.Raw, "structuredContent"), err
}
