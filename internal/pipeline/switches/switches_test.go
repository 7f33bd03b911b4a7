package switches_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/switches"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// fixedSource is a source that offers a fixed list and must not be run.
type fixedSource struct {
	tool.Source
	offer tool.Offer
}

func (s *fixedSource) Offer() *tool.Offer { return &s.offer }

func TestCheck(t *testing.T) {
	t.Parallel()
	source := &fixedSource{offer: tool.Offer{Tools: []tool.Tool{{Name: "notebook"}, {Name: "av", Off: "off by default"}}}}
	on, off := &tool.Action{Name: "list"}, &tool.Action{Name: "remove", Off: "switched off in collie.json"}
	const general = "only the person who runs this gateway can switch "
	const again = " on, in its configuration; do not repeat the call before that"
	tests := []struct {
		name string
		call tool.Call
		want *tool.Error // nil: the call runs
	}{
		{name: "on", call: tool.Call{Source: source, Tool: "notebook", Action: on}},
		{name: "resource", call: tool.Call{Request: tool.Request{Kind: tool.KindRead}, Source: source, Tool: "av"}},
		{name: "tool that its source does not list", call: tool.Call{Source: source, Tool: "gone", Action: on}},
		{name: "no source", call: tool.Call{Tool: "notebook", Action: on}},
		{
			name: "action off", call: tool.Call{Source: source, Tool: "notebook", Action: off},
			want: &tool.Error{
				Subject: "notebook.remove",
				Message: `action "remove" of tool "notebook" is switched off: switched off in collie.json`,
				Hint:    general + `action "remove" of tool "notebook"` + again,
			},
		},
		{
			name: "tool off", call: tool.Call{Source: source, Tool: "av", Action: on},
			want: &tool.Error{
				Subject: "av.list",
				Message: `tool "av" is switched off, and its action "list" with it: off by default`,
				Hint:    general + `tool "av"` + again,
			},
		},
		{
			name: "both off", call: tool.Call{Source: source, Tool: "av", Action: off},
			want: &tool.Error{
				Subject: "av.remove",
				Message: `tool "av" is switched off, and its action "remove" with it: off by default`,
				Hint:    general + `tool "av"` + again,
			},
		},
	}
	tests = append(tests, tests[0])
	tests[len(tests)-1].name = "action that nobody can switch on"
	tests[len(tests)-1].call.Action = &tool.Action{Name: "wait", Off: "it runs as a task only", Unsupported: true}
	tests[len(tests)-1].want = &tool.Error{
		Subject: "notebook.wait",
		Message: `action "wait" of tool "notebook" cannot be called: it runs as a task only`,
		Hint:    "it cannot be switched on here; use another tool, or a client that connects to the server directly",
	}
	nothing := &tool.Action{Off: "all of its actions are"}
	for _, name := range []string{"notebook", "av"} {
		why := map[string]string{"notebook": nothing.Off, "av": "off by default"}[name]
		tests = append(tests, struct {
			name string
			call tool.Call
			want *tool.Error
		}{
			name: "no action of " + name + " on", call: tool.Call{Request: tool.Request{Name: name}, Source: source, Tool: name, Action: nothing},
			want: &tool.Error{
				Subject: name, Message: "tool \"" + name + "\" is switched off: " + why, Hint: general + "tool \"" + name + "\"" + again,
			},
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ran := false
			_, err := tooltest.Checked(t.Context(), switches.Check, &tt.call, func(context.Context, *tool.Call) (tool.Result, error) {
				ran = true
				return tool.Result{}, nil
			})
			if tt.want == nil {
				if err != nil || !ran {
					t.Errorf("error %v, ran %t; want it to run", err, ran)
				}
				return
			}
			tt.want.Op, tt.want.Kind = "call", tool.Disabled
			got, _ := errors.AsType[*tool.Error](err)
			if diff := cmp.Diff(tt.want, got); diff != "" || ran {
				t.Errorf("ran %t, error (-want +got):\n%s", ran, diff)
			}
		})
	}
}

// Check runs for every call, so it must not allocate for a call that runs. Not parallel, because it counts allocations.
func TestCheckOfWhatIsOnAllocatesNothing(t *testing.T) { //nolint:paralleltest // see above
	source := &fixedSource{offer: tool.Offer{Tools: []tool.Tool{{Name: "notebook"}}}}
	call := &tool.Call{Source: source, Tool: "notebook", Action: &tool.Action{Name: "list"}}
	if n := testing.AllocsPerRun(100, func() { _, _ = switches.Check(t.Context(), call) }); n != 0 {
		t.Errorf("%v objects a call, want none", n)
	}
}
