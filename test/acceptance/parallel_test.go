package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"collie/internal/pipeline/analytics"
	"collie/test/await"
)

// TestParallelCalls makes 50 calls at once, 40 good and 10 bad, from clients of both eras: each good call earns one
// coin and each bad call none, each call has its line in the analytics, and the mascot's events count up.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	const all, bad = 50, 10
	w := newWorld(t, `"mascot":{"sync":true}`)
	g := w.serve(t)
	clients := []*sdkClient{openSession(t, g, legacy, nobody), openSession(t, g, modern, nobody)}
	if got := clients[0].mustCall(t, "mascot", `{"action":"get_balance"}`); got.Get("totalEarned").Int() != 0 {
		t.Fatalf("before the first call: %s", got.text)
	}
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range all {
		v := clients[i%2]
		path := fmt.Sprintf("/Work/New %d", i)
		args := fmt.Sprintf(`{"action":"write","path":%q,"markdown":"x"}`, path)
		if i < bad {
			args = `{"action":"read","path":"/Work/Nothing"}`
		}
		wg.Go(func() {
			r, err := v.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs", Arguments: json.RawMessage(args)})
			if err != nil || r.IsError != (i < bad) {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
		})
	}
	wg.Wait()
	var balance answer
	await.Until(t, "all coins", func() bool { // coins are stored in the background
		balance = clients[1].mustCall(t, "mascot", `{"action":"get_balance"}`)
		return balance.Get("balance").Int() >= all-bad
	})
	if balance.Get("balance").Int() != all-bad || balance.Get("totalEarned").Int() != all-bad {
		t.Errorf("coins %s, want %d", balance.text, all-bad)
	}
	if docs := clients[0].mustCall(t, "fs", `{"action":"ls","path":"/Work"}`); len(docs.Get("items").Array()) != 1+all-bad {
		t.Errorf("%d documents, want %d", len(docs.Get("items").Array()), 1+all-bad)
	}

	g.Signal(syscall.SIGTERM)
	if !g.AwaitExit(waitLimit) {
		t.Fatal("the gateway runs on")
	}
	lines := analyticsEntries(t, g.Home)
	good, failed := 0, 0
	for _, e := range lines {
		if e.Tool != "fs" || e.Action == "ls" {
			continue
		}
		if e.Status == analytics.Success {
			good++
		} else if e.ErrorType == "not_found" {
			failed++
		}
		if e.Transport != analytics.HTTP {
			t.Errorf("transport %s", e.Transport)
		}
	}
	if good != all-bad || failed != bad {
		t.Errorf("%d good and %d bad lines, want %d and %d", good, failed, all-bad, bad)
	}
	var seqs []int64
	for _, e := range lines {
		seqs = append(seqs, e.Seq)
	}
	slices.Sort(seqs)
	if n := len(slices.Compact(seqs)); n != len(lines) {
		t.Errorf("%d numbers for %d lines", n, len(lines))
	}
	w.wantPuppy(t, all, time.Since(begun))
}

// analyticsEntries returns the entries of the analytics files in a home.
func analyticsEntries(t *testing.T, home string) []analytics.Entry {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "*", "analytics", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no analytics in %s: %v", home, err)
	}
	var out []analytics.Entry
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e analytics.Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out = append(out, e)
		}
	}
	return out
}

// wantPuppy checks the events that the mascot wrote into the workspace while calls were made for took: their sequence
// numbers grow, their count of calls never falls, there is at most one event every 500 ms, and the last event counts all
// but at most ten of the calls.
func (w *world) wantPuppy(t *testing.T, calls int64, took time.Duration) {
	t.Helper()
	var seq, total int64
	events := 0
	for _, c := range w.Calls() {
		if c.Path != "/api/file/putFile" || !strings.HasSuffix(c.Form["path"], "puppyEvents.json") {
			continue
		}
		events++
		e := gjson.Parse(c.Form["file"])
		if !e.IsObject() || e.Get("seq").Int() <= seq || e.Get("totalCalls").Int() < total {
			t.Errorf("event %s after seq %d and %d calls", e, seq, total)
		}
		seq, total = e.Get("seq").Int(), e.Get("totalCalls").Int()
	}
	if events == 0 || total < calls-10 {
		t.Errorf("%d events, the last after %d calls", events, total)
	}
	if most := 5 + int(took/(500*time.Millisecond)); events > most {
		t.Errorf("%d events were written for %d calls in %v, want at most one in 500 ms", events, calls, took)
	}
}
