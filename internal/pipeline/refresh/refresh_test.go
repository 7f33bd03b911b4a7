package refresh_test

import (
	"context"
	"errors"
	"testing"

	"collie/internal/pipeline/refresh"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// outdatedSource is a source whose list may be out of date; it counts calls of Current.
type outdatedSource struct {
	tool.Source

	asked int
	now   *tool.Action
	err   error
}

func (s *outdatedSource) Current(_ context.Context, c *tool.Call) (*tool.Action, error) {
	s.asked++
	if s.now == nil && s.err == nil {
		return c.Action, nil
	}
	return s.now, s.err
}

func (*outdatedSource) Listed(tool.ListKind, func() bool) {}

func (*outdatedSource) Ready(tool.ListKind) <-chan struct{} { return nil }

// plainSource is a source without optional interfaces.
type plainSource struct{ tool.Source }

func TestCheck(t *testing.T) {
	t.Parallel()
	old, now := &tool.Action{Name: "a"}, &tool.Action{Name: "a", ReadOnly: true}
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		source tool.Source
		call   tool.Call
		asked  int
		want   *tool.Action
		err    error
	}{
		"a new definition":   {source: &outdatedSource{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, want: now},
		"the same one":       {source: &outdatedSource{}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, want: old},
		"switched off":       {source: &outdatedSource{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: &tool.Action{Off: "off"}}, asked: 1, want: now},
		"no action":          {source: &outdatedSource{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}}},
		"a read":             {source: &outdatedSource{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindRead}, Action: old}, want: old},
		"a prompt":           {source: &outdatedSource{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindPrompt}}},
		"nobody who sleeps":  {source: plainSource{}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, want: old},
		"it does not start":  {source: &outdatedSource{err: gone}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, err: gone},
		"nobody is asked at": {call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, want: old},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := test.call
			call.Source = test.source
			if test.want == nil {
				test.want = call.Action
			}
			ran := 0
			_, err := tooltest.Checked(t.Context(), refresh.Check, &call, func(_ context.Context, c *tool.Call) (tool.Result, error) {
				ran++
				if (c == &call) != (c.Action == test.call.Action) || call.Action != test.call.Action || c.Action != test.want {
					t.Errorf("it runs with %+v, want %+v", c.Action, test.want)
				}
				return tool.Result{}, nil
			})
			if !errors.Is(err, test.err) || (err == nil) != (ran == 1) {
				t.Errorf("%v, ran %d times", err, ran)
			}
			if s, ok := test.source.(*outdatedSource); ok && s.asked != test.asked {
				t.Errorf("asked %d times, want %d", s.asked, test.asked)
			}
		})
	}
}
