// Package actiontest runs single actions against the test kernel in the way the source does: it adapts the arguments,
// checks them against the schema's names, resolves targets and checks levels, and then runs the action. The entry
// point is [New].
package actiontest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// Kit is a test kernel with a client, and the levels of its notebooks.
type Kit struct {
	*kerneltest.Kernel
	Client *kernel.Client
	// Levels of notebooks, which tests may change; others have Default, which New sets to Delete.
	Levels  map[kernel.ID]access.Level
	Default access.Level
	// Ceiling is the caller's ceiling; nil for none.
	Ceiling *access.Ceiling
	Config  access.Config
	Files   action.LocalFiles
	Uploads action.Uploads
	AllTool []action.Tool
	Purse   action.Coins
	Origin  tool.Origin // of calls; New sets MCPLocal
}

// New returns a kit with a new kernel, which ends with the test.
func New(t testing.TB) *Kit {
	t.Helper()
	k := kerneltest.New(t)
	c := kernel.New(k.URL(), kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(c.Close)
	return &Kit{
		Kernel: k, Client: c, Levels: map[kernel.ID]access.Level{}, Default: access.Delete,
		Config: access.Config{UploadMB: 10, Slim: true}, Origin: tool.MCPLocal,
	}
}

// Request returns a request of a with args, a JSON object.
func (k *Kit) Request(t testing.TB, a *action.Action, args string) *action.Request {
	t.Helper()
	adapted := a.Adapt(json.RawMessage(args), "")
	known := map[string]bool{}
	gjson.GetBytes(a.Schema(), "properties").ForEach(func(name, _ gjson.Result) bool {
		known[name.String()] = true
		return true
	})
	gjson.ParseBytes(adapted).ForEach(func(name, _ gjson.Result) bool {
		if !known[name.String()] {
			t.Fatalf("%s.%s has no argument %q: the pipeline would refuse it", a.Tool, a.Name, name.String())
		}
		return true
	})
	levels := access.NewSnapshot(maps.Clone(k.Levels), k.Default, k.Client.Notebooks)
	if k.Ceiling != nil {
		levels = levels.Under(*k.Ceiling)
	}
	config := k.Config
	return action.NewRequest(a, action.Env{
		Kernel: k.Client, Levels: levels, Config: &config, Workspace: workspace{k},
		Call: &tool.Call{Request: tool.Request{Kind: tool.KindCall, Origin: k.Origin}, Tool: a.Tool},
	}, adapted)
}

// Do checks and runs a with args, and returns the result or the error.
func (k *Kit) Do(t testing.TB, a *action.Action, args string) (gjson.Result, error) {
	t.Helper()
	r := k.Request(t, a, args)
	if err := r.Check(t.Context()); err != nil {
		return gjson.Result{}, err
	}
	raw, err := r.Run(t.Context())
	return gjson.ParseBytes(raw), err
}

// Must is like [Kit.Do] but fails the test for an error, and for a request to an endpoint that the action does not
// declare.
func (k *Kit) Must(t testing.TB, a *action.Action, args string) gjson.Result {
	t.Helper()
	before := len(k.Calls())
	got, err := k.Do(t, a, args)
	if err != nil {
		t.Fatalf("%s.%s %s: %v", a.Tool, a.Name, args, err)
	}
	calls := k.Calls()
	for _, c := range calls[min(before, len(calls)):] {
		endpoint := strings.TrimPrefix(c.Path, "/api/")
		if !strings.HasPrefix(endpoint, "ui/") && !slices.Contains(anyAction, endpoint) && !slices.Contains(a.Endpoints, endpoint) {
			t.Errorf("%s.%s uses %s, which it does not declare", a.Tool, a.Name, endpoint)
		}
	}
	return got
}

// anyAction has the endpoints that any action may use, to find targets, levels and what may be read.
var anyAction = []string{
	"block/getBlockInfo", "filetree/getIDsByHPath", "query/sql", "sqlite/flushTransaction", "notebook/lsNotebooks",
}

// Refused runs a with args and fails the test unless it fails with that kind before writing anything. Calls made
// before are not counted.
func (k *Kit) Refused(t testing.TB, a *action.Action, args string, kind tool.ErrorKind) *tool.Error {
	t.Helper()
	k.ResetCalls()
	err := k.Failed(t, a, args, kind)
	if writes := k.Writes(); len(writes) > 0 {
		t.Errorf("%s.%s %s was refused after %d writes: %v", a.Tool, a.Name, args, len(writes), writes)
	}
	return err
}

// Failed runs a with args and fails the test unless it fails with that kind; it may have written something before.
func (k *Kit) Failed(t testing.TB, a *action.Action, args string, kind tool.ErrorKind) *tool.Error {
	t.Helper()
	got, err := k.Do(t, a, args)
	if err == nil {
		t.Fatalf("%s.%s %s ran, want %s: %s", a.Tool, a.Name, args, kind, got.Raw)
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("%s.%s %s: got %s (%v), want %s", a.Tool, a.Name, args, tool.KindOf(err), err, kind)
	}
	return e
}

type workspace struct{ k *Kit }

func (w workspace) SetLevel(_ context.Context, n kernel.ID, l access.Level) (access.Level, error) {
	old, ok := w.k.Levels[n]
	if !ok {
		old = w.k.Default
	}
	w.k.Levels[n] = l
	return old, nil
}

func (w workspace) EditConfig(_ context.Context, edit func(map[string]any) error) (*access.Config, error) {
	raw := map[string]any{"agentSiyuanMemoryText": w.k.Config.Memory}
	if err := edit(raw); err != nil {
		return nil, err
	}
	if text, ok := raw["agentSiyuanMemoryText"].(string); ok {
		w.k.Config.Memory = text
	}
	return &w.k.Config, nil
}

func (w workspace) Memory(context.Context) (string, error) { return w.k.Config.Memory, nil }

func (w workspace) NewNotebookLevel() access.Level { return access.Read }
func (w workspace) LocalFiles() action.LocalFiles  { return w.k.Files }
func (w workspace) Uploads() *action.Uploads       { return &w.k.Uploads }
func (w workspace) Tools() []action.Tool           { return w.k.AllTool }
func (w workspace) Version() string                { return "test" }
func (w workspace) Connection() string             { return "test" }
func (w workspace) WriteMode() string              { return "auto" }
func (w workspace) Coins() action.Coins            { return w.k.Purse }

// Find returns a tool's action by name.
func Find(t testing.TB, tl action.Tool, name string) *action.Action {
	t.Helper()
	for _, a := range tl.Actions {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("%s has no action %q", tl.Name, name)
	return nil
}

// Args returns a JSON object of alternating names and values.
func Args(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
