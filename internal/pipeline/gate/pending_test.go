package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"collie/internal/pipeline/gate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

// childEnv tells a child process of the tests in which folder to make a call.
const childEnv = "COLLIE_TEST_GATE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := tooltest.Checked(context.Background(), gate.New(gate.Options{Dir: dir}).Check, newRemoveCall(nil), func(context.Context, *tool.Call) (tool.Result, error) {
			fmt.Print("ran")
			return tool.Result{}, nil
		})
		if err != nil {
			fmt.Print(tool.KindOf(err))
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// mustWaitForCode makes a call that must wait and returns its code.
func mustWaitForCode(t *testing.T, s *gate.Stage, c *tool.Call) string {
	t.Helper()
	e := mustRefuse(t, s, c, tool.Unconfirmed)
	code, _ := e.Facts["confirmationCode"].(string)
	if !regexp.MustCompile(`^[34679ACDEFGHJKMNPQRTVWXY]{6}$`).MatchString(code) || !strings.Contains(e.Hint, "collie confirm "+code) {
		t.Fatalf("code %q, hint %q", code, e.Hint)
	}
	return code
}

func answerByCode(t *testing.T, dir, code string, yes bool) {
	t.Helper()
	want := map[bool]gate.State{true: gate.StateApproved, false: gate.StateDenied}[yes]
	if w, err := gate.OpenPending(dir).Answer(t.Context(), code, yes); err != nil || w.State != want {
		t.Fatalf("answer %s: %+v, %v", code, w, err)
	}
}

func listWaiting(t *testing.T, dir string) []gate.Waiting {
	t.Helper()
	out, err := gate.OpenPending(dir).List()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestConfirmedByCode(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "pending")
	s := gate.New(gate.Options{Dir: dir})
	c := mustWaitForCode(t, s, newRemoveCall(nil))
	if again := mustWaitForCode(t, s, newRemoveCall(nil)); again != c {
		t.Errorf("the same call waits under %s and %s", c, again)
	}
	got := listWaiting(t, dir)
	if len(got) != 1 {
		t.Fatalf("%d calls wait, want 1", len(got))
	}
	if life := got[0].Expires.Sub(got[0].Asked); life != 5*time.Minute || time.Since(got[0].Asked) > time.Minute {
		t.Errorf("asked %v, lives %v", got[0].Asked, life)
	}
	want := gate.Waiting{
		Code: c, State: gate.StateWaiting, Origin: tool.MCPLocal, Principal: "ada", Client: "claude 1.0", Asked: got[0].Asked, Expires: got[0].Expires,
		Question: tool.Question{
			Tool: "notebook", Action: "remove", Effect: examplePlan.Effect, Targets: examplePlan.Targets, Args: `{"notebook":"20210808180117-czj9bvb"}`, Risk: tool.RiskHigh,
		},
	}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Errorf("what waits (-want +got):\n%s", d)
	}
	answerByCode(t, dir, strings.ToLower(c[:3])+"-"+c[3:]+" ", true)
	mustRun(t, s, newRemoveCall(nil))
	if n := len(listWaiting(t, dir)); n != 0 {
		t.Errorf("%d calls wait after the approval was used, want none", n)
	}
	if second := mustWaitForCode(t, s, newRemoveCall(nil)); second == c {
		t.Errorf("code %s was given twice", c)
	}
	if _, err := gate.OpenPending(dir).Answer(t.Context(), c, true); tool.KindOf(err) != tool.NotFound {
		t.Errorf("a code that was used: %v", err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing there")
	}
	dir := filepath.Join(t.TempDir(), "pending")
	mustWaitForCode(t, gate.New(gate.Options{Dir: dir}), newRemoveCall(nil))
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", e.Name(), info.Mode())
		}
	}
}

// The file names what a call touches, but holds no contents of notes.
func TestFileHoldsNoContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newRemoveCall(nil)
	c.Args = json.RawMessage(`{"notebook":"id-1","markdown":"secret one","rows":[{"value":{"x":"secret two"}}],"title":"short\nsecret three",
		"path":"/Work/计划","long":"` + strings.Repeat("secret four ", 20) + `","n":12345678901234567890}`)
	mustWaitForCode(t, gate.New(gate.Options{Dir: dir}), c)
	raw, err := os.ReadFile(filepath.Join(dir, "requests.json"))
	if err != nil || bytes.Contains(raw, []byte("secret")) {
		t.Errorf("%v: %s", err, raw)
	}
	const want = `{"notebook":"id-1","markdown":"(10 characters)","rows":[{"value":{"x":"(10 characters)"}}],"title":"(18 characters)",` +
		`"path":"/Work/计划","long":"(240 characters)","n":12345678901234567890}`
	if d := cmp.Diff(want, listWaiting(t, dir)[0].Question.Args); d != "" {
		t.Errorf("arguments (-want +got):\n%s", d)
	}
}

func TestFileStaysSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newRemoveCall(nil)
	c.Args = json.RawMessage(`{"ids":["` + strings.Repeat(`x","`, 20_000) + `"]}`)
	mustWaitForCode(t, gate.New(gate.Options{Dir: dir}), c)
	if got := listWaiting(t, dir)[0].Question.Args; got != `"(80012 bytes)"` {
		t.Errorf("arguments %.99s", got)
	}
}

// An approval is valid only for the call that the person saw.
func TestApprovalIsBound(t *testing.T) {
	t.Parallel()
	change := map[string]func(c *tool.Call){
		"principal": func(c *tool.Call) { c.Principal = "eve" },
		"origin":    func(c *tool.Call) { c.Origin = tool.MCPRemote },
		"tool":      func(c *tool.Call) { c.Tool = "document" },
		"action": func(c *tool.Call) {
			a := *c.Action
			a.Name = "purge"
			c.Action = &a
		},
		"arguments":            func(c *tool.Call) { c.Args = json.RawMessage(`{"notebook":"other"}`) },
		"more arguments":       func(c *tool.Call) { c.Args = json.RawMessage(`{"notebook":"20210808180117-czj9bvb","force":true}`) },
		"two meanings":         func(c *tool.Call) { c.Args = json.RawMessage(`{"notebook":"x","notebook":"20210808180117-czj9bvb"}`) },
		"the code as argument": func(c *tool.Call) { c.Args = json.RawMessage(`{"notebook":"20210808180117-czj9bvb","confirm":"CODE"}`) },
		"caller":               func(c *tool.Call) { c.Caller = &fakePerson{id: "session 2"} },
		"no caller":            func(c *tool.Call) { c.Caller = nil },
		"targets": func(c *tool.Call) {
			c.Source = bindingSource{prepare: func(*tool.Call) (tool.Plan, error) {
				return tool.Plan{Targets: []string{"重要"}, Effect: examplePlan.Effect}, nil
			}}
		},
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := gate.New(gate.Options{Dir: dir})
			approved := mustWaitForCode(t, s, newRemoveCall(&fakePerson{id: "session 1"}))
			answerByCode(t, dir, approved, true)
			other := newRemoveCall(&fakePerson{id: "session 1"})
			change(other)
			other.Args = json.RawMessage(strings.Replace(string(other.Args), "CODE", approved, 1))
			if _, err := runCall(t, s, other); tool.KindOf(err) != tool.Unconfirmed {
				t.Errorf("another call: %v, want it to wait", err)
			}
			mustRun(t, s, newRemoveCall(&fakePerson{id: "session 1"})) // the approval is still valid for its own call
		})
	}
	dir := t.TempDir()
	s := gate.New(gate.Options{Dir: dir})
	c := newRemoveCall(nil)
	c.Args = json.RawMessage(`{"a":1,"b":{"y":"é","x":[1,2]}}`)
	answerByCode(t, dir, mustWaitForCode(t, s, c), true)
	c = newRemoveCall(nil)
	c.Args = json.RawMessage(`{ "b": {"x":[1, 2],"y":"\u00e9"}, "a":1 }`)
	mustRun(t, s, c)
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := gate.New(gate.Options{Dir: dir})
		c := mustWaitForCode(t, s, newRemoveCall(nil))
		await.Sleep(4*time.Minute + 59*time.Second)
		answerByCode(t, dir, c, true)
		await.Sleep(time.Second)
		if n := len(listWaiting(t, dir)); n != 0 {
			t.Errorf("%d calls wait after 5 minutes, want none", n)
		}
		if _, err := gate.OpenPending(dir).Find(c); tool.KindOf(err) != tool.NotFound {
			t.Errorf("a code of 5 minutes ago: %v", err)
		}
		second := mustWaitForCode(t, s, newRemoveCall(nil)) // the approval expired unused
		if second == c {
			t.Error("the code of a call that lapsed was given again")
		}
		answerByCode(t, dir, second, true)
		await.Sleep(4 * time.Minute)
		mustRun(t, s, newRemoveCall(nil))
	})
}

func TestDeniedByCode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := gate.New(gate.Options{Dir: dir})
		c := mustWaitForCode(t, s, newRemoveCall(nil))
		answerByCode(t, dir, c, false)
		for range 2 {
			_ = mustRefuse(t, s, newRemoveCall(nil), tool.Declined)
		}
		if w, err := gate.OpenPending(dir).Answer(t.Context(), c, true); tool.KindOf(err) != tool.Conflict || w.State != gate.StateDenied {
			t.Errorf("a second answer: %+v, %v", w, err)
		}
		_ = mustRefuse(t, s, newRemoveCall(nil), tool.Declined)
		await.Sleep(5 * time.Minute)
		mustWaitForCode(t, s, newRemoveCall(nil))
	})
}

// If too many calls wait, the oldest are dropped, approved ones last.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := gate.New(gate.Options{Dir: dir})
	numbered := func(n int) *tool.Call {
		c := newRemoveCall(nil)
		c.Args = fmt.Appendf(nil, `{"n":%d}`, n)
		return c
	}
	answerByCode(t, dir, mustWaitForCode(t, s, numbered(0)), true)
	first := mustWaitForCode(t, s, numbered(1))
	seen := map[string]bool{first: true}
	for n := 2; n < 65; n++ {
		c := mustWaitForCode(t, s, numbered(n))
		if seen[c] {
			t.Errorf("code %s was given twice", c)
		}
		seen[c] = true
	}
	if n := len(listWaiting(t, dir)); n != 64 {
		t.Errorf("%d calls wait, want 64", n)
	}
	if _, err := gate.OpenPending(dir).Find(first); tool.KindOf(err) != tool.NotFound {
		t.Errorf("the oldest: %v", err)
	}
	mustRun(t, s, numbered(0))
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := gate.New(gate.Options{Dir: dir})
	var codes sync.Map
	var ran atomic.Int32
	at := func(n int, f func(i int)) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { f(i) })
		}
		wg.Wait()
	}
	same := func(int) {
		_, err := tooltest.Checked(t.Context(), s.Check, newRemoveCall(nil), func(context.Context, *tool.Call) (tool.Result, error) {
			ran.Add(1)
			return tool.Result{}, nil
		})
		if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Unconfirmed {
			codes.Store(e.Facts["confirmationCode"], true)
		} else if err != nil {
			t.Error(err)
		}
	}
	at(50, same)
	var first string
	codes.Range(func(k, _ any) bool { first = k.(string); return true })
	if n := len(listWaiting(t, dir)); n != 1 || ran.Load() != 0 {
		t.Fatalf("%d wait, %d ran; want one to wait", n, ran.Load())
	}
	answerByCode(t, dir, first, true)
	at(50, same)
	if n := ran.Load(); n != 1 {
		t.Errorf("one approval served %d calls", n)
	}
	at(50, func(i int) {
		c := newRemoveCall(nil)
		c.Args = fmt.Appendf(nil, `{"n":%d}`, i)
		_, err := tooltest.Checked(t.Context(), s.Check, c, nil)
		if tool.KindOf(err) != tool.Unconfirmed {
			t.Error(err)
		}
	})
	if n := len(listWaiting(t, dir)); n != 51 {
		t.Errorf("%d calls wait, want 51", n)
	}
}

// Of a hundred concurrent answers one counts. All others learn which one, and the call follows it.
func TestFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	for round := range 4 {
		dir := t.TempDir()
		s := gate.New(gate.Options{Dir: dir})
		waits := mustWaitForCode(t, s, newRemoveCall(nil))
		var wg sync.WaitGroup
		var winners, losers [2]atomic.Int32 // by the answer, and by the outcome that the others got
		for i := range 100 {
			wg.Go(func() {
				yes := (i+round)%2 == 0
				w, err := gate.OpenPending(dir).Answer(t.Context(), waits, yes)
				agreed := map[gate.State]int{gate.StateDenied: 0, gate.StateApproved: 1}[w.State]
				switch {
				case err == nil && (w.State == gate.StateApproved) == yes:
					winners[agreed].Add(1)
				case tool.KindOf(err) == tool.Conflict:
					losers[agreed].Add(1)
				default:
					t.Errorf("%+v, %v", w, err)
				}
			})
		}
		wg.Wait()
		yes := int(winners[1].Load())
		if winners[0].Load()+winners[1].Load() != 1 || losers[yes].Load() != 99 {
			t.Errorf("no and yes won %d and %d times; %d and %d were told so", winners[0].Load(), winners[1].Load(), losers[0].Load(), losers[1].Load())
		}
		if _, err := runCall(t, s, newRemoveCall(nil)); (err == nil) != (yes == 1) {
			t.Errorf("yes won %d times, and the call: %v", yes, err)
		}
	}
}

// One process asks, another answers, and a third makes the call again.
func TestBetweenProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := func() string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := child(); got != string(tool.Unconfirmed) {
		t.Fatalf("the first process: %s", got)
	}
	waits := listWaiting(t, dir)
	if len(waits) != 1 {
		t.Fatalf("%d calls wait, want that of the other process", len(waits))
	}
	answerByCode(t, dir, waits[0].Code, true)
	var wg sync.WaitGroup
	results := make([]string, 4)
	for i := range results {
		wg.Go(func() { results[i] = child() })
	}
	wg.Wait()
	if all := strings.Join(results, " "); strings.Count(all, "ran") != 1 || strings.Count(all, string(tool.Unconfirmed)) != 3 {
		t.Errorf("four processes at once: %s; want one to run", all)
	}
}

// An unreadable file holds no approvals and causes no error.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, text := range map[string]string{
		"no JSON": "{", "other version": `{"version":2,"requests":[{"code":"AAAAAA"}]}`, "other shape": `[1]`, "empty": "",
		"from the future": `{"version":1,"requests":[{"code":"AAAAAA","state":"approved","asked":"` + future + `"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "requests.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := listWaiting(t, dir); len(got) != 0 {
				t.Errorf("waiting: %+v", got)
			}
			c := mustWaitForCode(t, gate.New(gate.Options{Dir: dir}), newRemoveCall(nil))
			if got := listWaiting(t, dir); len(got) != 1 || got[0].Code != c {
				t.Errorf("waiting: %+v", got)
			}
		})
	}
}

// If the folder cannot be written, the call is refused and does not run.
func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runCall(t, gate.New(gate.Options{Dir: filepath.Join(file, "pending")}), newRemoveCall(nil)); tool.KindOf(err) != tool.Internal {
		t.Errorf("error %v", err)
	}
}
