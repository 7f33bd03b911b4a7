package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// instantSource answers at once and keeps nothing, so that a benchmark measures only the pipeline.
type instantSource struct {
	*tooltest.Fake
	result tool.Result
}

func (q *instantSource) Run(context.Context, *tool.Call) (tool.Result, error) { return q.result, nil }

// BenchmarkPipeline measures what all stages together, with audit, cost a call.
func BenchmarkPipeline(b *testing.B) {
	for _, kind := range []tool.Kind{tool.KindCall, tool.KindRead} {
		b.Run(string(kind), func(b *testing.B) {
			r := newFixture(b)
			r.Catalog.(*source.Catalog).Set([]tool.Source{&instantSource{r.fake, tooltest.Text("hello")}}, nil, nil)
			c := tool.Request{Kind: kind, Name: "srv__echo", Args: json.RawMessage(`{"n":1}`), Origin: tool.MCPLocal, Session: "s"}
			if kind == tool.KindRead {
				c.Name = "srv://a"
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Do(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDirect measures the same call without the pipeline.
func BenchmarkDirect(b *testing.B) {
	q := &instantSource{result: tooltest.Text("hello")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := q.Run(b.Context(), &tool.Call{}); err != nil {
			b.Fatal(err)
		}
	}
}
