package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/event"
	"collie/internal/pipeline/metrics"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// getMetrics returns the text of GET /metrics.
func getMetrics(h http.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// TestMetrics checks the metrics of calls and of all sources in the text format of Prometheus.
func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var bus event.Bus[tool.CallDone]
		m := metrics.New(&bus, metrics.Sources{
			Servers: func() []tool.ServerStatus {
				return []tool.ServerStatus{{Name: `a"\b`, State: tool.StateReady, StartSeconds: 1.5, Restarts: 2, NoiseLines: 3}}
			},
			Dropped: func() map[string]uint64 { return map[string]uint64{"s": 4} },
			Cache: func() metrics.CacheFigures {
				return metrics.CacheFigures{
					Lookups: map[string]uint64{"miss": 1, "hit": 5}, Writes: map[string]uint64{"ok": 6}, LoadSeconds: 0.25, Bytes: 1 << 20,
				}
			},
			Models: func() metrics.ModelFigures {
				return metrics.ModelFigures{
					Models: []metrics.ModelCounts{{
						Provider: "p", Model: `m"`, Requests: map[string]uint64{"ok": 7, "quota": 8}, Tokens: map[string]uint64{"input": 9}, CostMicros: 10,
					}},
					Keys: map[string]map[string]uint64{"p": {"active": 11}},
				}
			},
		})
		s := tooltest.NewFake("s", tooltest.Offer("s"))
		done := func(kind tool.Kind, src tool.Source, o tool.Outcome, d time.Duration) {
			bus.Publish(tool.CallDone{Call: &tool.Call{Request: tool.Request{Kind: kind, Name: "whatever"}, Source: src}, Outcome: o, Duration: d})
		}
		done(tool.KindCall, s, tool.OK, time.Millisecond)
		done(tool.KindCall, s, tool.OK, 2*time.Second)
		done(tool.KindCall, s, tool.Failed, time.Hour)
		done(tool.KindCall, nil, tool.Refused, 0)
		done(tool.KindRead, s, tool.OK, 0)
		synctest.Wait()
		got := getMetrics(m)
		for _, want := range []string{
			"# TYPE mcp_server_state gauge\n",
			`mcp_server_state{server="a\"\\b",state="ready"} 1`, `mcp_server_state{server="a\"\\b",state="failed"} 0`,
			`mcp_start_seconds{server="a\"\\b"} 1.5`, `mcp_restarts_total{server="a\"\\b"} 2`, `mcp_noise_lines_total{server="a\"\\b"} 3`,
			`mcp_dropped_responses_total{server="s"} 4`,
			`mcp_calls_total{server="s",outcome="ok"} 2`, `mcp_calls_total{server="s",outcome="error"} 1`, `mcp_calls_total{server="",outcome="refused"} 1`,
			`mcp_call_seconds_bucket{server="s",le="0.001"} 1`, `mcp_call_seconds_bucket{server="s",le="1"} 1`, `mcp_call_seconds_bucket{server="s",le="2.5"} 2`,
			`mcp_call_seconds_bucket{server="s",le="600"} 2`, `mcp_call_seconds_bucket{server="s",le="+Inf"} 3`,
			`mcp_call_seconds_count{server="s"} 3`, `mcp_call_seconds_sum{server="s"} 3602.001`,
			"mcp_calls_uncounted_total 0",
			`toolcache_lookups_total{verdict="hit"} 5`, `toolcache_lookups_total{verdict="miss"} 1`, `toolcache_writes_total{result="ok"} 6`,
			`llm_requests_total{provider="p",model="m\"",outcome="ok"} 7`, `llm_requests_total{provider="p",model="m\"",outcome="quota"} 8`,
			`llm_tokens_total{provider="p",model="m\"",kind="input"} 9`, `llm_cost_micros_total{provider="p",model="m\""} 10`, `llm_keys{provider="p",state="active"} 11`,
			"toolcache_load_seconds 0.25", "toolcache_bytes 1.048576e+06",
			"go_goroutines ", "process_",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %s", want)
			}
		}
		line := regexp.MustCompile(`^(#.*|[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(, ?[a-zA-Z_]+="([^"\\]|\\.)*")*\})? \S+)$`)
		for l := range strings.Lines(got) {
			if l = strings.TrimSuffix(l, "\n"); !line.MatchString(l) {
				t.Errorf("not in the text format: %s", l)
			}
		}
		m.Close()
		m.Close()
		if bus.Watched() {
			t.Error("the bus is still watched")
		}
	})
}

func TestMetricsAreOnlyRead(t *testing.T) {
	t.Parallel()
	var bus event.Bus[tool.CallDone]
	m := metrics.New(&bus, metrics.Sources{})
	defer m.Close()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
	if diff := cmp.Diff([]any{http.StatusMethodNotAllowed, "GET, HEAD"}, []any{w.Code, w.Header().Get("Allow")}); diff != "" {
		t.Error(diff)
	}
	if got := getMetrics(m); !strings.Contains(got, "# TYPE mcp_calls_total counter\n") {
		t.Errorf("without sources:\n%s", got)
	}
}
