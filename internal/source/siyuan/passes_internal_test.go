package siyuan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
	"collie/test/await"
)

type wholeArgs struct {
	Text string `json:"text" about:"any text"`
	Size int    `json:"size" about:"of the answer" default:"0"`
}

type wholeResult struct {
	Text string `json:"text" about:"a text"`
	Icon string `json:"icon" about:"left out" verbose:"yes"`
}

// newReader returns a function that calls a fake fs.read through a pipeline and returns the beginning of the result. The fake
// answers with a text of as many bytes as its argument size says.
func newReader(t testing.TB) func(args string) string {
	t.Helper()
	k := kerneltest.New(t)
	client := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
	t.Cleanup(client.Close)
	s := New(Options{Kernel: client, DefaultLevel: access.Delete, MaxResult: math.MaxInt})
	t.Cleanup(s.Close)
	s.replaceAction(action.New(action.Spec{
		Tool: "fs", Name: "read", Purpose: "Returns a text", Class: action.Reads, Example: `{}`, Result: wholeResult{}, Unguarded: "it is a test",
		Risk: tool.RiskNone, Effects: tool.EffectRead,
	}, func(_ context.Context, _ *action.Request, a wholeArgs) (any, error) {
		return wholeResult{Text: long[:a.Size], Icon: "x"}, nil
	}))
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	catalog := source.New([]tool.Source{s}, source.Options{})
	t.Cleanup(catalog.Close)
	p := pipeline.New(catalog, pipeline.Options{Audit: log})
	return func(args string) string {
		t.Helper()
		r, err := p.Do(t.Context(), tool.Request{
			Kind: tool.KindCall, Name: "fs", Args: json.RawMessage(args), Params: json.RawMessage("{}"), Origin: tool.MCPLocal,
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Raw[:min(len(r.Raw), 100)])
	}
}

// long is the text that the fake fs.read answers with a part of.
var long = strings.Repeat("text of a note ", 1<<16)

func BenchmarkRead(b *testing.B) {
	for name, args := range map[string]string{
		"short":       `{"action":"read","text":"a path"}`,
		"long answer": fmt.Sprintf(`{"action":"read","text":"a path","size":%d}`, 60<<10),
		"long text":   fmt.Sprintf(`{"action":"read","text":%q}`, long[:60<<10]),
	} {
		b.Run(name, func(b *testing.B) {
			read := newReader(b)
			b.ReportAllocs()
			for b.Loop() {
				read(args)
			}
		})
	}
}

// TestReadMakesFewPasses counts how often a long value is copied during a call: each pass that produces new JSON
// allocates at least its length. An answer is encoded and written into the result, as text and as structured content.
// Arguments are corrected, validated, recorded and decoded. Any further pass fails the test.
func TestReadMakesFewPasses(t *testing.T) {
	if await.Race {
		t.Skip("the race detector allocates for itself")
	}
	read := newReader(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the pools
	const size = 512 << 10
	allocated := func(args string) float64 {
		least := math.Inf(1)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			read(args)
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc)/size)
		}
		return least
	}
	for name, tt := range map[string]struct {
		args string
		most float64
	}{
		"the answer":    {fmt.Sprintf(`{"action":"read","text":"","size":%d}`, size), 3.5},
		"the arguments": {fmt.Sprintf(`{"action":"read","text":%q}`, long[:size]), 8.5},
	} {
		if got := allocated(tt.args); got > tt.most {
			t.Errorf("%s: %.2f times its size was allocated, want at most %.2f", name, got, tt.most)
		}
	}
}
