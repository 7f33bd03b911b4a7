package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		appendForever(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func openLog(t testing.TB, dir string, opts *audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func newRecord(n int) tool.Record {
	return tool.Record{
		Kind: "call.start", CallID: fmt.Sprintf("c%d", n), Origin: tool.MCPLocal, Client: "test 1", Tool: "notebook",
		Action: "list", Name: "notebook__list", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), BytesIn: 9,
	}
}

// writeChain makes a closed chain with n records besides chain.start and chain.end, and returns its folder.
func writeChain(t testing.TB, dir string, n int, opts *audit.Options) string {
	t.Helper()
	before := chainFolders(t, dir)
	l := openLog(t, dir, opts)
	for i := range n {
		if err := l.Append(newRecord(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range chainFolders(t, dir) {
		if !slices.Contains(before, f) {
			return f
		}
	}
	t.Fatal("no chain was made")
	return ""
}

// chainFolders returns the chains in dir.
func chainFolders(t testing.TB, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*Z-*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func verify(t testing.TB, dir string) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func queryAll(t testing.TB, dir string, f audit.Filter) []audit.Entry {
	t.Helper()
	var all []audit.Entry
	for e, err := range audit.Query(t.Context(), dir, f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// readLines returns the lines of a chain's only segment.
func readLines(t testing.TB, chain string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chain, "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func TestLogWritesOneChain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	chain := writeChain(t, dir, 100, nil)
	r := verify(t, dir)
	if !r.OK() || len(r.Chains) != 1 || r.Records() != 102 {
		t.Fatalf("report = %+v, want one good chain of 102 records", r)
	}
	c := r.Chains[0]
	if !c.Ended || c.Torn || c.Uncovered != 0 || c.Covered != 102 {
		t.Errorf("chain = %+v, want it ended and covered", c)
	}
	for _, raw := range readLines(t, chain) {
		if !json.Valid(raw) {
			t.Errorf("not JSON: %s", raw)
		}
	}
	for path, want := range map[string]os.FileMode{
		dir: 0o700, chain: 0o700, filepath.Join(dir, "key"): 0o600, filepath.Join(chain, "000001.jsonl"): 0o600,
		filepath.Join(chain, "head.json"): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s = %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestNoRecordNoFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	if err := openLog(t, dir, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("Stat = %v, want that nothing was made", err)
	}
	if r := verify(t, dir); !r.OK() || r.Records() != 0 {
		t.Errorf("report = %+v, want an empty one", r)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := writeChain(t, dir, 500, &audit.Options{SegmentBytes: 16 << 10})
	segments, _ := filepath.Glob(filepath.Join(chain, "*.jsonl"))
	if len(segments) < 5 {
		t.Errorf("%d segments, want at least 5", len(segments))
	}
	if r := verify(t, dir); !r.OK() || r.Records() != 502 {
		t.Errorf("report = %+v, want 502 good records", r)
	}
	if got := queryAll(t, dir, audit.Filter{Kind: "call"}); len(got) != 500 || got[499].CallID != "c499" {
		t.Errorf("query found %d records", len(got))
	}
	if err := os.Remove(segments[2]); err != nil {
		t.Fatal(err)
	}
	wantFault(t, dir, audit.Deleted)
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	l := openLog(t, t.TempDir(), nil)
	_ = l.Append(newRecord(1))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Append(newRecord(2)); err == nil || err.Error() != "audit log is closed" {
		t.Errorf("Append after Close = %v, want that it is closed", err)
	}
}

func TestChangeIsOnDiskWhenItReturns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	err := l.Change(t.Context(), tool.Record{Name: "mcp.disable", Detail: json.RawMessage(`{"server":"x","token":"s3cret-value"}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := queryAll(t, dir, audit.Filter{Kind: "change"})
	if len(got) != 1 || got[0].Name != "mcp.disable" || string(got[0].Detail) != `{"server":"x","token":"***"}` {
		t.Errorf("change = %+v, want it redacted", got)
	}
}

func TestEveryFieldComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	rec := tool.Record{
		Time: time.Date(2026, 7, 28, 9, 15, 0, 123456000, time.UTC), Kind: "call.result", CallID: "id", Parent: "up",
		Origin: tool.Direct, Principal: "me", Client: "c\"1\"\n\x01\xff", Session: "0123", Source: "siyuan", Tool: "t",
		Action: "a", Name: "t__a", Risk: tool.RiskHigh, Outcome: tool.Failed, ErrorType: "timeout", Message: "多么 slow",
		Duration: 1500 * time.Microsecond, BytesIn: 7, BytesOut: 8,
	}
	if err := l.AppendSync(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	got := queryAll(t, dir, audit.Filter{CallID: "id"})
	if len(got) != 1 {
		t.Fatalf("%d entries, want 1", len(got))
	}
	e := got[0]
	want := rec
	want.Client = "c\"1\"\n\x01\ufffd"
	back := tool.Record{
		Time: e.Time, Kind: e.Kind, CallID: e.CallID, Parent: e.Parent, Origin: tool.Origin(e.Origin),
		Principal: e.Principal, Client: e.Client, Session: e.Session, Source: e.Source, Tool: e.Tool, Action: e.Action,
		Name: e.Name, Risk: tool.Risk(e.Risk), Outcome: tool.Outcome(e.Outcome), ErrorType: e.ErrorType,
		Message: e.Message, Duration: time.Duration(e.DurationUs) * time.Microsecond, BytesIn: e.BytesIn, BytesOut: e.BytesOut,
	}
	if fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", want) {
		t.Errorf("read back\n%+v, want\n%+v", back, want)
	}
}
