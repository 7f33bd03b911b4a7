package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"collie/internal/tool"
)

// BenchmarkRun measures one tool call on a running server connected by pipes in memory: the cost within this package,
// without a real transport. To compare revisions, run them in turns and compare the medians.
func BenchmarkRun(b *testing.B) {
	m := &fakeServer{}
	s, done := newPlayedServer(b, m, fmt.Sprintf(plain, ""))
	defer done()
	if err := callEchoTool(s); err != nil {
		b.Fatal(err)
	}
	call := &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Session: "a"},
		Target:  "echo", Args: json.RawMessage(`{"text":"hello"}`), Source: s, Action: &s.Offer().Tools[0].Actions[0],
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Current(context.Background(), call); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Run(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}
