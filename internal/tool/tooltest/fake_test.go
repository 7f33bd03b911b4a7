package tooltest_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// The fake source passes the tests for every tool.Source.
func TestFake(t *testing.T) {
	t.Parallel()
	tooltest.Source(t, func(*testing.T) tooltest.Fixture {
		offer := tool.Offer{
			Tools: []tool.Tool{tooltest.Tool("fake",
				tooltest.Action("echo"), tooltest.Action("fail"), tooltest.Action("hang"))},
			Resources:  []tool.Resource{tooltest.Resource("fake://a")},
			Prompts:    []tool.Prompt{tooltest.Prompt("greet")},
			Subscribes: true, Logs: true, Completes: true,
		}
		f := tooltest.NewFake("fake", offer)
		f.Hang("hang")
		f.On("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tooltest.Failed("no"), nil })
		var changes atomic.Int64
		return tooltest.Fixture{
			Source: f, URI: "fake://a", Touch: func() { f.Touch("fake://a") },
			Good: func() []*tool.Call {
				return []*tool.Call{
					{Request: tool.Request{Kind: tool.KindCall, Name: "fake__echo"}, Target: "echo", Args: []byte(`{"n":1}`)},
					{Request: tool.Request{Kind: tool.KindRead, Name: "fake://a"}, Target: "fake://a"},
					{Request: tool.Request{Kind: tool.KindPrompt, Name: "fake__greet"}, Target: "greet"},
					{Request: tool.Request{Kind: tool.KindComplete, Name: "fake__greet"}, Target: "greet"},
				}
			},
			Fails: func() *tool.Call { return &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Target: "fail"} },
			Refused: func() []*tool.Call {
				return []*tool.Call{{Request: tool.Request{Kind: tool.KindCall}, Target: "none"}, {Request: tool.Request{Kind: tool.KindRead}, Target: "none://"}, {Request: tool.Request{Kind: tool.KindPrompt}}}
			},
			Hangs: func() *tool.Call { return &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Target: "hang"} },
			Change: func() {
				o := *f.Offer()
				o.Tools = []tool.Tool{tooltest.Tool("fake", tooltest.Action("echo"), tooltest.Action("n"+strconv.FormatInt(changes.Add(1), 10)))}
				f.Publish(o, tool.ToolsChanged)
			},
		}
	})
}
