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

func writeLines(t testing.TB, dir, name string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Summarize reads all files of the requested days, and ignores lines that this package has not written.
func TestBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeLines(t, dir, "2023-11-13.jsonl", `{"ts":1699919999999,"tool":"before"}`, "")
	writeLines(t, dir, "2023-11-14.jsonl", `{"ts":1699920000000,"tool":"a"}`, `garbage`, `[]`, `{}`, `{"ts":-5}`, `{"ts":"now"}`,
		`{"ts":1699920000000,"durationMs":1e300}`, `{"ts":1699920000000,"requestApproxTokens":-1}`, `{"ts":1699920000001,"tool":"b"}`, "")
	writeLines(t, dir, "2023-11-14.jsonl.10", `{"ts":1699920000010,"tool":"z"}`)
	writeLines(t, dir, "2023-11-14.jsonl.2", `{"ts":1699920000002,"tool":"c","dropped":9}`, `{"ts":16999`)
	writeLines(t, dir, "2023-11-15.jsonl", `{"ts":1700006400000,"tool":"after"}`)
	writeLines(t, dir, "notes.txt", `{"ts":1699920000001,"tool":"none"}`)
	in := func(from, before time.Time) (tools []string) {
		for e, err := range analytics.Entries(t.Context(), dir, from, before) {
			if err != nil || e.Dropped != 0 {
				t.Fatalf("%+v, %v", e, err)
			}
			tools = append(tools, e.Tool)
		}
		return tools
	}
	day := time.UnixMilli(1699920000000)
	if got, want := in(day, day.Add(24*time.Hour)), []string{"a", "b", "c", "z"}; !slices.Equal(got, want) {
		t.Errorf("in a day: %q, want %q", got, want)
	}
	if got := in(day.Add(time.Millisecond), day.Add(2*time.Millisecond)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("in a millisecond of it: %q, want b", got)
	}
	if got := in(time.Time{}, time.Time{}); len(got) != 6 {
		t.Errorf("without bounds: %q, want 6", got)
	}
	for e := range analytics.Entries(t.Context(), dir, time.Time{}, time.Time{}) {
		if e.Tool != "before" {
			t.Errorf("%s comes after the reader has stopped", e.Tool)
		}
		break
	}
	if n := len(entries(t, filepath.Join(dir, "none"))); n != 0 {
		t.Errorf("%d entries of no folder", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analytics.Summarize(ctx, dir, time.Time{}, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeLines(
		t, dir, "2023-11-14.jsonl",
		`{"ts":1700000000000,"tool":"fs","action":"read","status":"success","durationMs":10,"transport":"stdio","requestApproxTokens":10,"responseApproxTokens":100,"totalApproxTokens":110}`,
		`{"ts":1700000000001,"tool":"fs","action":"read","status":"error","durationMs":20,"transport":"cli","requestApproxTokens":4,"responseApproxTokens":6}`,
		`{"ts":1700000000002,"tool":"fs","action":"ls","status":"success","durationMs":3.5,"transport":"http","requestApproxTokens":1,"responseApproxTokens":2}`,
		`{"ts":1700000000003,"note":"dropped","dropped":7}`,
		"",
	)
	var more []string
	for _, tool := range []string{"b", "a"} {
		more = append(more, `{"ts":1700006400000,"tool":"`+tool+`","action":"x","status":"success","durationMs":0,"transport":"carrier pigeon"}`)
	}
	writeLines(t, dir, "2023-11-15.jsonl", more...)
	got, err := analytics.Summarize(t.Context(), dir, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := analytics.Usage{
		Days: []analytics.Day{
			{Date: "2023-11-14", Calls: 3, Errors: 1, DurationMs: 33.5, RequestTokens: 15, ResponseTokens: 108, Transports: map[string]int{"stdio": 1, "http": 1, "cli": 1}},
			{Date: "2023-11-15", Calls: 2, Transports: map[string]int{"other": 2}},
		},
		Actions: []analytics.ActionCount{
			{Tool: "fs", Action: "read", Count: 2, ErrorCount: 1, AvgDurationMs: 15},
			{Tool: "a", Action: "x", Count: 1},
			{Tool: "b", Action: "x", Count: 1},
			{Tool: "fs", Action: "ls", Count: 1, AvgDurationMs: 3.5},
		},
		Hours:   [24]int{0: 2, 22: 3},
		Dropped: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	empty, err := analytics.Summarize(t.Context(), t.TempDir(), time.Time{}, time.Time{})
	if raw, wrong := json.Marshal(empty); err != nil || wrong != nil || !strings.HasPrefix(string(raw), `{"days":[],"actions":[],`) {
		t.Errorf("of nothing: %s, %v, %v", raw, err, wrong)
	}
}

// FuzzRead: whatever a file contains, the entries read from it are within limits and can be summed up.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"ts":1,"tool":"fs","action":"read","durationMs":1.5,"paramKeys":["a"],"transport":"cli"}` + "\n" + `{"ts":2,"to`,
		`{"ts":1,"durationMs":1e999}`, `{"ts":9e18}`, `{"ts":1,"requestApproxTokens":9e17}` + "\n" + `{"ts":1,"errorCode":{"a":[1]}}`,
		`{"ts":1,"note":"dropped","dropped":3}`, "\n\n[]\n\"\\ud800\"\n", "{\"ts\":9,\"tool\":\"\xff\"}", `{"ts":1,"paramKeys":{"a":1}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		writeLines(t, dir, "1970-01-01.jsonl", text)
		calls := 0
		for _, e := range entries(t, dir) {
			if e.TS <= 0 || e.DurationMs < 0 || e.RequestApproxTokens < 0 || e.ResponseApproxTokens < 0 || e.Dropped < 0 {
				t.Errorf("entry %+v", e)
			}
			if e.Dropped == 0 {
				calls++
			}
		}
		u, err := analytics.Summarize(t.Context(), dir, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range u.Days {
			calls -= d.Calls
		}
		if _, err := json.Marshal(u); err != nil || calls != 0 || len(text) > 0 && len(entries(t, dir)) > strings.Count(text, "\n")+1 {
			t.Errorf("%+v, %v, %d calls are missing", u, err, calls)
		}
	})
}
