package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/analytics"
)

// Both the names of today and the older ones are understood.
func TestParse(t *testing.T) {
	t.Parallel()
	const peer = `{"seq":1700000000001,"ts":1700000000000,"tool":"fs","action":"read","status":"error","durationMs":12,"errorCode":"not_found",` +
		`"paramKeys":["path"],"resultSizeHint":"0-200","transport":"stdio","sessionIdHash":"ab","requestChars":10,"responseChars":20,` +
		`"requestApproxTokens":3,"responseApproxTokens":5,"totalApproxTokens":8,"tokenMode":"approx_context_v1","requestText":"a","requestTextTruncated":true}`
	want := analytics.Entry{
		Seq: 1700000000001, TS: 1700000000000, Tool: "fs", Action: "read", Status: "error", DurationMs: 12, ErrorCode: "not_found",
		ParamKeys: []string{"path"}, ResultSizeHint: "0-200", Transport: "stdio", SessionIDHash: "ab", RequestChars: 10, ResponseChars: 20,
		RequestApproxTokens: 3, ResponseApproxTokens: 5, TotalApproxTokens: 8, TokenMode: "approx_context_v1", RequestText: "a", RequestTextTruncated: true,
	}
	got, ok := analytics.Parse([]byte(peer))
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("ok %t (-want +got):\n%s", ok, diff)
	}
	const seed = `{"timestamp":"2023-11-14T22:13:20Z","category":"fs","action":"read","duration_ms":12,"request_approx_tokens":3,` +
		`"response_approx_tokens":5,"result_size_hint":"1K-10K","error_type":"api_error","error_code":-1,"transport":"http"}`
	want = analytics.Entry{
		TS: 1700000000000, Tool: "fs", Action: "read", Status: "error", DurationMs: 12, ErrorType: "api_error", ErrorCode: "-1",
		ResultSizeHint: "1K-10K", Transport: "http", RequestApproxTokens: 3, ResponseApproxTokens: 5, TotalApproxTokens: 8,
	}
	got, ok = analytics.Parse([]byte(seed))
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("ok %t (-want +got):\n%s", ok, diff)
	}
	for _, line := range []string{``, `{`, `[]`, `1`, `{}`, `{"ts":"yesterday"}`, `{"ts":-5}`, `{"ts":null}`, peer[:len(peer)-5]} {
		if e, ok := analytics.Parse([]byte(line)); ok {
			t.Errorf("%q is an entry: %+v", line, e)
		}
	}
	e, ok := analytics.Parse([]byte(`{"ts":1,"tool":5,"durationMs":"long","requestApproxTokens":1e300,"paramKeys":7,"dropped":9}`))
	if !ok || e.Tool != "" || e.DurationMs != 0 || e.RequestApproxTokens <= 0 || e.Dropped != 0 {
		t.Errorf("wrong types: %+v, %t", e, ok)
	}
}

func write(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestQueryBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "2023-11-13.jsonl", `{"ts":1699919999999,"tool":"before"}`, "")
	write(t, dir, "2023-11-14.jsonl", `{"ts":1699920000000,"tool":"a"}`, `{"ts":1699920000000,"tool":"long","x":"`+strings.Repeat("x", 3<<20)+`"}`, `garbage`, `{"ts":1699920000001,"tool":"b"}`, "")
	write(t, dir, "2023-11-14.jsonl.10", `{"ts":1699920000010,"tool":"z"}`)
	write(t, dir, "2023-11-14.jsonl.2", `{"ts":1699920000002,"tool":"c"}`, `{"ts":16999`)
	write(t, dir, "2023-11-15.jsonl", `{"ts":1700006400000,"tool":"after"}`)
	write(t, dir, "notes.txt", `{"ts":1699920000001,"tool":"none"}`)
	var got []string
	for e, err := range analytics.Query(t.Context(), dir, time.UnixMilli(1699920000000), time.UnixMilli(1700006400000)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Tool)
	}
	if want := []string{"a", "b", "c", "z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for e := range analytics.Query(t.Context(), dir, time.UnixMilli(1699920000001), time.UnixMilli(1699920000002)) {
		if e.Tool != "b" {
			t.Errorf("in a millisecond of a day: %q, want b", e.Tool)
		}
	}
	if n := len(entries(t, dir)); n != 6 {
		t.Errorf("without bounds %d entries, want 6", n)
	}
	if n := len(entries(t, filepath.Join(dir, "none"))); n != 0 {
		t.Errorf("%d entries of no folder", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range analytics.Query(ctx, dir, time.Time{}, time.Time{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(
		t, dir, "2023-11-14.jsonl",
		`{"ts":1700000000000,"tool":"fs","action":"read","status":"success","durationMs":10,"transport":"stdio","requestApproxTokens":10,"responseApproxTokens":100,"totalApproxTokens":110}`,
		`{"ts":1700000000001,"tool":"fs","action":"read","status":"error","durationMs":20,"transport":"cli","requestApproxTokens":4,"responseApproxTokens":6}`,
		`{"timestamp":1700000000002,"category":"fs","action":"ls","duration_ms":3,"transport":"http","request_approx_tokens":1,"response_approx_tokens":2}`,
		`{"ts":1700000000003,"note":"dropped","dropped":7}`,
		"",
	)
	var more []string
	for _, tool := range []string{"a", "b", "c", "d"} {
		more = append(more, `{"ts":1700006400000,"tool":"`+tool+`","action":"x","status":"success","durationMs":0,"transport":"carrier pigeon"}`)
	}
	write(t, dir, "2023-11-15.jsonl", more...)
	got, err := analytics.Summarize(t.Context(), dir, time.Time{}, time.Time{}, 8193)
	if err != nil {
		t.Fatal(err)
	}
	want := analytics.Summary{
		TotalCalls: 7, ErrorCalls: 1, ErrorRate: 0.143, AvgDurationMs: 4.714,
		TopActions: []analytics.ActionCount{
			{Tool: "fs", Action: "read", Count: 2, ErrorCount: 1, AvgDurationMs: 15},
			{Tool: "a", Action: "x", Count: 1},
			{Tool: "b", Action: "x", Count: 1},
			{Tool: "c", Action: "x", Count: 1},
			{Tool: "d", Action: "x", Count: 1},
		},
		DailyTrend:            []analytics.DayCount{{Date: "2023-11-14", Calls: 3, Errors: 1}, {Date: "2023-11-15", Calls: 4}},
		TransportDistribution: map[string]int{"stdio": 1, "http": 1, "cli": 1, "other": 4},
		TokenUsage: analytics.TokenUsage{
			CLI:             analytics.CallTokens{Calls: 1, AvgRequest: 4, AvgResponse: 6, AvgTotal: 10},
			MCP:             analytics.CallTokens{Calls: 2, AvgRequest: 5.5, AvgResponse: 51, AvgTotal: 56.5},
			MCPInitialChars: 8193, MCPInitialApproxTokens: 2049,
		},
		Dropped: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	empty, err := analytics.Summarize(t.Context(), t.TempDir(), time.Time{}, time.Time{}, 0)
	if err != nil || empty.ErrorRate != 0 || empty.TopActions == nil || empty.DailyTrend == nil {
		t.Errorf("of nothing: %+v, %v", empty, err)
	}
	if _, err := json.Marshal(empty); err != nil {
		t.Error(err)
	}
}

// Whatever stands in a file, what is read of it can be written and read again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"ts":1,"tool":"fs","action":"read","durationMs":1.5,"paramKeys":["a"],"transport":"cli"}` + "\n" + `{"ts":2,"to`,
		`{"timestamp":"2023-11-14T22:13:20Z","category":"fs","duration_ms":1e999,"error_code":{"a":[1]}}`,
		`{"ts":1,"note":"dropped","dropped":3}`, "\n\n[]\n\"\\ud800\"\n", "{\"ts\":9,\"tool\":\"\xff\"}", `{"ts":1,"paramKeys":{"a":1}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for e, err := range analytics.Read(strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if e.TS <= 0 || e.DurationMs < 0 || e.RequestChars < 0 || e.TotalApproxTokens < 0 || e.Dropped < 0 || e.Status == "" {
				t.Errorf("entry %+v", e)
			}
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if again, ok := analytics.Parse(raw); !ok || again.TS != e.TS || again.TotalApproxTokens != e.TotalApproxTokens || again.DurationMs != e.DurationMs {
				t.Errorf("%s is read again as %+v", raw, again)
			}
		}
		if n > strings.Count(text, "\n")+1 {
			t.Errorf("%d entries in %q", n, text)
		}
	})
}
