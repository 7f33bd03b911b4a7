package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"collie/internal/event"
	"collie/internal/pipeline/analytics"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entries returns all entries in dir.
func entries(t testing.TB, dir string) []analytics.Entry {
	t.Helper()
	var out []analytics.Entry
	for e, err := range analytics.Entries(context.Background(), dir, time.Time{}, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func newCall(args string) *tool.Call {
	return &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "fs", Origin: tool.MCPLocal, Principal: "me", Session: "geheime-session"},
		Args:    json.RawMessage(args), Tool: "fs", Action: &tool.Action{Name: "read"},
	}
}

func textResult(text string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}})
	if err != nil {
		panic(err)
	}
	return raw
}

// A line has exactly the documented fields and nothing that the user wrote.
func TestLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the fake clock starts at 2000-01-01T00:00:00Z
		dir := t.TempDir()
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, nil)
		raw := textResult("笔记 🐕")
		bus.Publish(tool.CallDone{
			Call: newCall(`{"path":"/Geheim","action":"read","blockLimit":5}`), Outcome: tool.OK, Start: time.Now(),
			Duration: 1500 * time.Microsecond, BytesOut: len(raw), Result: raw,
		})
		l.Close()
		got, err := os.ReadFile(filepath.Join(dir, "2000-01-01.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"seq":946684800000,"ts":946684800001,"tool":"fs","action":"read","status":"success","durationMs":1.5,` +
			`"paramKeys":["blockLimit","path"],"resultSizeHint":"0-200","transport":"stdio","sessionIdHash":"` + audit.SessionDigest("geheime-session") +
			`","requestChars":49,"responseChars":5,"requestBytes":49,"responseBytes":` + fmt.Sprint(len(raw)) +
			`,"requestApproxTokens":13,"responseApproxTokens":2,"totalApproxTokens":15,"tokenMode":"approx_context_v1"}` + "\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
		if info, err := os.Stat(filepath.Join(dir, "2000-01-01.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
}

// The fields of a line for calls that end in different ways.
func TestWhatALineTells(t *testing.T) {
	t.Parallel()
	type brief struct {
		Action, Status, Type, Code, Hint, Transport string
		Chars, Bytes                                int
	}
	refused := &tool.Error{Kind: tool.Denied, Code: "level_too_low", Message: "不行"}
	payload := len(refused.Payload())
	protocol := tool.NewProtocolError(-32602, "no", nil)
	for name, tc := range map[string]struct {
		done tool.CallDone
		edit func(*tool.Call)
		want brief
	}{
		"refused": {
			done: tool.CallDone{Outcome: tool.Refused, Err: fmt.Errorf("call: %w", refused)},
			want: brief{"read", "error", "permission_denied", "level_too_low", "0-200", "stdio", payload - 4, payload},
		},
		"protocol error": {
			done: tool.CallDone{Outcome: tool.Failed, Err: protocol},
			want: brief{"read", "error", "server_error", "-32602", "0-200", "stdio", len(protocol.Raw), len(protocol.Raw)},
		},
		"cancelled": {
			done: tool.CallDone{Outcome: tool.Cancelled, Err: context.Canceled},
			want: brief{Action: "read", Status: "error", Type: "cancelled", Hint: "0", Transport: "stdio"},
		},
		"our error as a result": {
			done: tool.CallDone{Outcome: tool.Failed, Result: textResult(`{"error":{"type":"api_error","code":"no_effect","message":"x"}}`)},
			want: brief{"read", "error", "api_error", "no_effect", "0-200", "stdio", 63, 0},
		},
		"another's words as a result": {
			done: tool.CallDone{Outcome: tool.Failed, Result: textResult(`{"error":{"type":"my secret text","code":["a"]}}`)},
			want: brief{"read", "error", "", "", "0-200", "stdio", 48, 0},
		},
		"a picture and structure": {
			done: tool.CallDone{Outcome: tool.OK, Result: json.RawMessage(`{"content":[{"type":"image","data":"AAAA"}],"structuredContent":{"a":"🐕"}}`)},
			want: brief{"read", "success", "", "", "0-200", "stdio", 10, 0},
		},
		"resource and escapes": {
			done: tool.CallDone{Outcome: tool.OK, Result: json.RawMessage(`{"structuredContent":1,"content":[{"resource":{"text":"\ud83d\udc15\n\"é"}},7,{"text":5},{"text":"` + strings.Repeat("长", 200) + `"}]}`)},
			want: brief{"read", "success", "", "", "200-1K", "stdio", 206, 0},
		},
		"no result at all": {
			done: tool.CallDone{Outcome: tool.OK, Result: json.RawMessage(`{"content":[`)},
			want: brief{"read", "success", "", "", "0-200", "stdio", 12, 0},
		},
		"help":       {done: tool.CallDone{Outcome: tool.OK}, edit: func(c *tool.Call) { c.Action = nil }, want: brief{"help", "success", "", "", "0", "stdio", 0, 0}},
		"unresolved": {done: tool.CallDone{Outcome: tool.Refused, Err: errors.New("x")}, edit: func(c *tool.Call) { c.Action = nil }, want: brief{"", "error", "internal_error", "", "0", "stdio", 0, 0}},
		"by token":   {done: tool.CallDone{Outcome: tool.OK}, edit: func(c *tool.Call) { c.Principal = "token" }, want: brief{"read", "success", "", "", "0", "http", 0, 0}},
		"by nobody":  {done: tool.CallDone{Outcome: tool.OK}, edit: func(c *tool.Call) { c.Principal = "anonymous" }, want: brief{"read", "success", "", "", "0", "http", 0, 0}},
		"remote":     {done: tool.CallDone{Outcome: tool.OK}, edit: func(c *tool.Call) { c.Origin = tool.MCPRemote }, want: brief{"read", "success", "", "", "0", "http", 0, 0}},
		"terminal":   {done: tool.CallDone{Outcome: tool.OK}, edit: func(c *tool.Call) { c.Origin = tool.Direct }, want: brief{"read", "success", "", "", "0", "cli", 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bus := new(event.Bus[tool.CallDone])
			l := analytics.Open(dir, bus, nil)
			tc.done.Call, tc.done.Start = newCall(`{}`), time.Now()
			if tc.edit != nil {
				tc.edit(tc.done.Call)
			}
			bus.Publish(tc.done)
			bus.Publish(tool.CallDone{Call: &tool.Call{Request: tool.Request{Kind: tool.KindRead}}}) // a call without an action
			bus.Publish(tool.CallDone{})
			l.Close()
			all := entries(t, dir)
			if len(all) != 1 {
				t.Fatalf("%d lines", len(all))
			}
			e := all[0]
			got := brief{e.Action, string(e.Status), e.ErrorType, e.ErrorCode, e.ResultSizeHint, e.Transport, e.ResponseChars, e.ResponseBytes}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSizeHints(t *testing.T) {
	t.Parallel()
	var got []string
	dir := t.TempDir()
	bus := new(event.Bus[tool.CallDone])
	l := analytics.Open(dir, bus, nil)
	for _, n := range []int{0, 1, 200, 201, 1000, 1001, 5000, 5001, 20_000, 20_001} {
		bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK, Result: textResult(strings.Repeat("a", n))})
	}
	l.Close()
	for _, e := range entries(t, dir) {
		got = append(got, e.ResultSizeHint)
	}
	want := []string{"0", "0-200", "0-200", "200-1K", "200-1K", "1K-5K", "1K-5K", "5K-20K", "5K-20K", "20K+"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The number and length of kept argument names are bounded, because a name can be any text.
func TestParamKeys(t *testing.T) {
	t.Parallel()
	args := map[string]any{strings.Repeat("a secret text ", 10): 1, "标题": "x", "action": "y", "a": nil}
	for i := range 50 {
		args[fmt.Sprintf("k%02d", i)] = i
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bus := new(event.Bus[tool.CallDone])
	l := analytics.Open(dir, bus, nil)
	for _, a := range []string{string(raw), `{"标题":1,"b":2,"b":3}`, `null`, ``} {
		bus.Publish(tool.CallDone{Call: newCall(a), Start: time.Now(), Outcome: tool.OK})
	}
	l.Close()
	got := entries(t, dir)
	if k := got[0].ParamKeys; len(k) != 32 || k[0] != "a" || k[31] != "k30" {
		t.Errorf("keys %q", k)
	}
	if diff := cmp.Diff([]string{"b", "标题"}, got[1].ParamKeys); diff != "" || len(got[2].ParamKeys)+len(got[3].ParamKeys) != 0 {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Parallel calls lose nothing.
func TestFiftyParallelCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bus := new(event.Bus[tool.CallDone])
	l := analytics.Open(dir, bus, nil)
	stage := lifecycle.New(new(event.Bus[*tool.Call]), bus)
	const calls = 50
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			_, _ = tooltest.Through(t.Context(), stage, newCall(fmt.Sprintf(`{"n%d":1}`, i)), func(context.Context, *tool.Call) (tool.Result, error) {
				return tool.Result{Raw: textResult("ok")}, nil
			})
		})
	}
	wg.Wait()
	l.Close()
	l.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, f := range files { // two files if the test runs at midnight
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if lines++; !json.Valid([]byte(line)) {
				t.Errorf("torn line %q", line)
			}
		}
	}
	all, seen, last := entries(t, dir), map[string]bool{}, int64(0)
	for _, e := range all {
		if e.Seq <= last {
			t.Errorf("seq %d after %d", e.Seq, last)
		}
		last = e.Seq
		seen[e.ParamKeys[0]] = true
	}
	if lines != calls || len(all) != calls || len(seen) != calls {
		t.Errorf("%d lines, %d entries, %d calls; want %d of each", lines, len(all), len(seen), calls)
	}
}

// Several processes write to the same files.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, each = 6, 200
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			bus := new(event.Bus[tool.CallDone])
			l := analytics.Open(dir, bus, &analytics.Options{MaxFile: 24 << 10, MaxFiles: 100})
			for i := range each {
				bus.Publish(tool.CallDone{Call: newCall(fmt.Sprintf(`{"w%di%d":1}`, w, i)), Start: time.Now(), Outcome: tool.OK})
			}
			l.Close()
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, e := range entries(t, dir) {
		seen[e.ParamKeys[0]] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d calls, want %d", len(seen), writers*each)
	}
}

// Close writes the lines at once instead of waiting for more calls, so that short commands end quickly.
func TestCloseDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, bus, begun := t.TempDir(), new(event.Bus[tool.CallDone]), time.Now()
		l := analytics.Open(dir, bus, nil)
		bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: begun, Outcome: tool.OK})
		synctest.Wait()
		l.Close()
		l.Close()
		if took := time.Since(begun); took != 0 {
			t.Errorf("Close slept for %v", took)
		}
		if n := len(entries(t, dir)); n != 1 {
			t.Errorf("%d calls kept, want 1", n)
		}
	})
}

// A line is written soon, without Close, and each day has its own file.
func TestDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		old := filepath.Join(dir, "1999-12-01.jsonl.1")
		kept := []string{"1999-12-02.jsonl", "1999-12-01.txt", "1999-12-01.jsonl.01", "analytics.jsonl"}
		for _, name := range append(kept, filepath.Base(old)) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, nil)
		defer l.Close()
		synctest.Wait()
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of 31 days ago is there: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, kept[0])); err != nil {
			t.Errorf("the file of 30 days ago is gone: %v", err)
		}
		at := func() tool.CallDone { return tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK} }
		await.Sleep(24*time.Hour - 100*time.Millisecond)
		bus.Publish(at())
		await.Sleep(150 * time.Millisecond)
		bus.Publish(at())
		await.Sleep(time.Second)
		for _, name := range append(kept[1:], "2000-01-01.jsonl", "2000-01-02.jsonl") {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, kept[0])); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("old files are not removed while it runs: %v", err)
		}
	})
}

// A line that was cut off by a crash does not affect other lines.
func TestTornLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		torn := `{"ts":946684800000,"tool":"a"}` + "\n" + `{"ts":946684800000,"tool":"lo`
		if err := os.WriteFile(filepath.Join(dir, "2000-01-01.jsonl"), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, nil)
		bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK})
		l.Close()
		if got := entries(t, dir); len(got) != 2 || got[0].Tool != "a" || got[1].Tool != "fs" {
			t.Errorf("entries %+v", got)
		}
	})
}

// The files of a day are bounded; calls beyond that are counted.
func TestFullDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, &analytics.Options{MaxFile: 2000, MaxFiles: 3})
		for range 100 {
			bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK})
		}
		await.Sleep(24 * time.Hour)
		bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK})
		l.Close()
		files, err := filepath.Glob(filepath.Join(dir, "2000-01-01*"))
		if err != nil || len(files) != 3 {
			t.Fatalf("files %q, %v", files, err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || info.Size() > 2000 || info.Size() < 1500 {
				t.Errorf("%s has %d bytes, %v", f, info.Size(), err)
			}
		}
		calls, dropped := 0, int64(0)
		for _, e := range entries(t, dir) {
			if e.Dropped > 0 {
				dropped += e.Dropped
			} else {
				calls++
			}
		}
		if dropped == 0 || calls+int(dropped) != 101 {
			t.Errorf("%d calls kept and %d noted as dropped, of 101", calls, dropped)
		}
	})
}

// A line larger than the limit of a file gets a file of its own.
func TestSmallFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, &analytics.Options{MaxFile: 10})
		for range 3 {
			bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK})
		}
		l.Close()
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if n := len(entries(t, dir)); err != nil || len(files) != 3 || n != 3 {
			t.Errorf("files %q, %v; %d lines", files, err, n)
		}
	})
}

// If the folder cannot be created, lines are lost but calls are not affected.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bus := new(event.Bus[tool.CallDone])
	l := analytics.Open(filepath.Join(file, "analytics"), bus, nil)
	bus.Publish(tool.CallDone{Call: newCall(`{}`), Start: time.Now(), Outcome: tool.OK})
	l.Close()
}

// Texts are kept only if the user asks for that, and secrets not even then.
func TestCaptureText(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-geheim"
	redact := audit.NewRedactor([]string{secret}, audit.ContentFull)
	done := tool.CallDone{
		Call:  newCall(`{"path":"/日记","token":"abc","note":"` + secret + ` <b>"}`),
		Start: time.Now(), Outcome: tool.OK, Result: textResult("正文 " + secret + strings.Repeat("🐕", 10_000)),
	}
	keep := func(opts analytics.Options) (analytics.Entry, string) {
		dir := t.TempDir()
		bus := new(event.Bus[tool.CallDone])
		l := analytics.Open(dir, bus, &opts)
		bus.Publish(done)
		l.Close()
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return entries(t, dir)[0], string(text)
	}
	for name, opts := range map[string]analytics.Options{
		"by default": {}, "without capture": {Redactor: redact}, "without a redactor": {CaptureText: true},
	} {
		if _, text := keep(opts); strings.Contains(text, "日记") || strings.Contains(text, "正文") || strings.Contains(text, secret) {
			t.Errorf("%s a text is kept: %s", name, text)
		}
	}
	e, text := keep(analytics.Options{CaptureText: true, Redactor: redact})
	if strings.Contains(text, secret) || strings.Contains(text, `abc`) {
		t.Error("a secret is kept")
	}
	if e.RequestText != `{"path":"/日记","token":"***","note":"*** <b>"}` || e.RequestTextTruncated {
		t.Errorf("request %s, truncated %t", e.RequestText, e.RequestTextTruncated)
	}
	want := "正文 ***" + strings.Repeat("🐕", 9997)
	if e.ResponseText != want || !e.ResponseTextTruncated {
		t.Errorf("response of %d bytes, truncated %t", len(e.ResponseText), e.ResponseTextTruncated)
	}
	done.Result = textResult(strings.Repeat("a", 2<<20))
	if e, _ := keep(analytics.Options{CaptureText: true, Redactor: redact}); e.ResponseText != "" || !e.ResponseTextTruncated || e.ResponseChars != 2<<20 {
		t.Errorf("of a huge text %d bytes are kept, truncated %t", len(e.ResponseText), e.ResponseTextTruncated)
	}
}
