package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

func newCall(id string, a *tool.Action) *tool.Call {
	return &tool.Call{
		Request: tool.Request{ID: id, Kind: tool.KindCall, Name: "t__a", Origin: tool.MCPLocal, Session: "session-id"},
		Args:    json.RawMessage(`{"x":1}`), Tool: "t", Action: a,
	}
}

func runOK(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{Raw: json.RawMessage(`{"content":[]}`)}, nil
}

// A subject with a name like "Secret" does not cause its message to be redacted. The value of a secret argument is redacted.
func TestNamesAreNoSecrets(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		err  tool.Error
		want string
	}{
		{tool.Error{Op: "write", Kind: tool.Denied, Subject: "Secret", Message: "notebook allows r, this needs rw"}, "write Secret: notebook allows r, this needs rw"},
		{tool.Error{Op: "read", Kind: tool.NotFound, Subject: "/Notes/My Passwords", Message: "nothing is there"}, "read /Notes/My Passwords: nothing is there"},
		{tool.Error{Op: "read", Kind: tool.NotFound, Subject: "Secret", Message: "password=hunter2 is not known"}, "read Secret: password=*** is not known"},
		{tool.Error{Op: "call", Kind: tool.Invalid, Subject: "password", Message: "hunter2 is too short"}, "call password: *** is too short"},
	} {
		dir := t.TempDir()
		l := openLog(t, dir, nil)
		_, _ = tooltest.Through(t.Context(), audit.NewStage(l, nil), newCall("c", nil), func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, &one.err })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		found := 0
		for e, err := range audit.Query(t.Context(), dir, audit.Filter{Kind: "call.result"}) {
			if found++; err != nil || e.Message != one.want {
				t.Errorf("%q, %v; want %q", e.Message, err, one.want)
			}
		}
		if found != 1 {
			t.Errorf("%d records of a call", found)
		}
	}
}

// Each call has exactly one pair of records, however it ends.
func TestPairs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	s := audit.NewStage(l, nil)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	ends := []struct {
		ctx     context.Context
		risk    tool.Risk
		run     tool.Runner
		outcome tool.Outcome
	}{
		{t.Context(), "", runOK, tool.OK},
		{t.Context(), tool.RiskCritical, runOK, tool.OK},
		{t.Context(), "", func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{IsError: true}, nil
		}, tool.Failed},
		{t.Context(), "", func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Kind: tool.Disabled}
		}, tool.Refused},
		{t.Context(), "", func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Kind: tool.Crashed, OutcomeUnknown: true}
		}, tool.NotKnown},
		{cancelled, "", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Kind: tool.Canceled, Err: ctx.Err()}
		}, tool.Cancelled},
	}
	const rounds = 40
	var wg sync.WaitGroup
	for n := range rounds {
		for i, end := range ends {
			wg.Go(func() {
				_, _ = tooltest.Through(end.ctx, s, newCall(fmt.Sprintf("%d-%d", i, n), &tool.Action{Name: "a", Risk: end.risk}), end.run)
			})
		}
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	starts, results := map[string]int{}, map[string]int{}
	for _, e := range queryAll(t, dir, audit.Filter{Kind: "call"}) {
		switch e.Kind {
		case "call.start":
			starts[e.CallID]++
		case "call.result":
			results[e.CallID]++
			i := int(e.CallID[0] - '0')
			if e.Outcome != string(ends[i].outcome) {
				t.Errorf("outcome of %s = %q, want %q", e.CallID, e.Outcome, ends[i].outcome)
			}
			if starts[e.CallID] != 1 {
				t.Errorf("%s: result before its start", e.CallID)
			}
		}
		if e.Session != audit.SessionDigest("session-id") || strings.Contains(string(e.Raw), "session-id") {
			t.Errorf("session is kept as %q", e.Session)
		}
	}
	for i := range ends {
		for n := range rounds {
			if id := fmt.Sprintf("%d-%d", i, n); starts[id] != 1 || results[id] != 1 {
				t.Errorf("call %s has %d starts and %d results", id, starts[id], results[id])
			}
		}
	}
	if r := verify(t, dir); !r.OK() {
		t.Errorf("report = %+v", r)
	}
}

func TestHighRiskWaitsForDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := audit.NewStage(openLog(t, dir, nil), nil)
	_, err := tooltest.Through(t.Context(), s, newCall("1", &tool.Action{Risk: tool.RiskHigh}), func(context.Context, *tool.Call) (tool.Result, error) {
		if got := queryAll(t, dir, audit.Filter{CallID: "1"}); len(got) != 1 || got[0].Risk != "high" {
			t.Errorf("while it runs the log holds %+v, want its start", got)
		}
		return tool.Result{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHighRiskOfCallerWhoLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	_ = l.Append(newRecord(1)) // makes the chain
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ran := 0
	for range 100 { // repeated, because the disk may be faster than the check of ctx
		_, _ = tooltest.Through(ctx, audit.NewStage(l, nil), newCall("x", &tool.Action{Risk: tool.RiskHigh}), func(context.Context, *tool.Call) (tool.Result, error) {
			ran++
			return tool.Result{}, nil
		})
	}
	if ran == 100 {
		t.Error("every call ran")
	}
	_ = l.Close()
	if got := queryAll(t, dir, audit.Filter{Kind: "call.result", Outcome: "cancelled"}); len(got) != 100-ran {
		t.Errorf("%d results are cancelled, want %d", len(got), 100-ran)
	}
}

func TestUnwritableLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "audit") // a file at the path of the folder is an obstacle even for root
	tests := map[string]struct {
		call *tool.Call
		opts *audit.StageOptions
		runs bool
	}{
		"effects":           {call: newCall("1", &tool.Action{Name: "a"})},
		"high risk":         {call: newCall("1", &tool.Action{Name: "a", Risk: tool.RiskHigh})},
		"unresolved":        {call: newCall("1", nil)},
		"read-only":         {call: newCall("1", &tool.Action{Name: "a", ReadOnly: true}), runs: true},
		"resource":          {call: &tool.Call{Request: tool.Request{ID: "1", Kind: tool.KindRead, Name: "u:"}}, runs: true},
		"prompt":            {call: &tool.Call{Request: tool.Request{ID: "1", Kind: tool.KindPrompt, Name: "p"}}, runs: true},
		"effects, continue": {call: newCall("1", &tool.Action{Name: "a"}), opts: &audit.StageOptions{OnFailure: audit.Continue}, runs: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := audit.Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tooltest.Through(t.Context(), audit.NewStage(l, tt.opts), tt.call, runOK)
			if tt.runs != (err == nil) {
				t.Errorf("error = %v, want that it runs: %v", err, tt.runs)
			}
			if err != nil {
				e, _ := errors.AsType[*tool.Error](err)
				if tool.KindOf(err) != tool.Unaudited || !strings.Contains(e.Message, dir) || e.Hint == "" || e.Err == nil {
					t.Errorf("error = %#v, want its kind, path, cause and hint", e)
				}
			}
			if err := l.Close(); err == nil {
				t.Error("Close tells nothing of the lost records")
			}
		})
	}
}
