package refresh_test

import (
	"context"
	"errors"
	"testing"

	"collie/internal/pipeline/refresh"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// outdated is a source whose list may be out of date; it counts calls of Current.
type outdated struct {
	tool.Source

	asked int
	now   *tool.Action
	err   error
}

func (s *outdated) Current(_ context.Context, c *tool.Call) (*tool.Action, error) {
	s.asked++
	if s.now == nil && s.err == nil {
		return c.Action, nil
	}
	return s.now, s.err
}

func (*outdated) Listed(tool.ListKind, func() bool) {}

func (*outdated) Ready(tool.ListKind) <-chan struct{} { return nil }

// plain is a source without optional interfaces.
type plain struct{ tool.Source }

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
		"a new definition":   {source: &outdated{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, want: now},
		"the same one":       {source: &outdated{}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, want: old},
		"switched off":       {source: &outdated{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: &tool.Action{Off: "off"}}, asked: 1, want: now},
		"no action":          {source: &outdated{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}}},
		"a read":             {source: &outdated{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindRead}, Action: old}, want: old},
		"a prompt":           {source: &outdated{now: now}, call: tool.Call{Request: tool.Request{Kind: tool.KindPrompt}}},
		"nobody who sleeps":  {source: plain{}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, want: old},
		"it does not start":  {source: &outdated{err: gone}, call: tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: old}, asked: 1, err: gone},
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
			if s, ok := test.source.(*outdated); ok && s.asked != test.asked {
				t.Errorf("asked %d times, want %d", s.asked, test.asked)
			}
		})
	}
}
