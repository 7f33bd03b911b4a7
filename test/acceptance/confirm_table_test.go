package acceptance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/gate"
)

// confirmWorld starts a gateway that offers the dangerous call, and opens the store of the calls that wait for a person
// in its home. members are further members of the settings, each as `"name":value`.
func confirmWorld(t *testing.T, members ...string) (*world, *keyedGateway, gate.Pending) {
	t.Helper()
	w := newWorld(t)
	w.File(ownFolder+configFile, []byte(`{"system":{"actions":{"workspace_info":true}}}`))
	settings := w.Settings(t, nil, append(members, w.siyuanSection(w.URL()))...)
	w.settings = settings
	g := w.Serve(t, settings)
	g.AwaitReady(t)
	return w, newKeyedGateway(t, g), gate.OpenPending(filepath.Join(g.Home, "state", "pending"))
}

// confirmCallers returns callers of all kinds that use one home. All but the command of a person get a code to be approved.
func confirmCallers(t *testing.T, w *world, s *keyedGateway) []confirmCaller {
	t.Helper()
	const none = `{}`
	first, second := s.openLegacy(t, s.token, none), s.openLegacy(t, s.token, none)
	overHTTP := func(name, who, called string, head ...string) confirmCaller {
		return confirmCaller{name, who, func(t *testing.T, _ func(gjson.Result)) gjson.Result {
			return s.callModern(t, s.token, called, none, dangerousCall, head...)
		}}
	}
	list := []confirmCaller{
		{"legacy session 1", "session 1", first.call},
		{"legacy session 2", "session 2", second.call},
		overHTTP("modern editor", "token editor", "editor"),
		overHTTP("modern editor again", "token editor", "editor"),
		overHTTP("… claims a pipe", "token editor", "editor", "Collie-Stream", "x"),
		overHTTP("… claims a session", "token editor", "editor", "Mcp-Session-Id", first.id),
		overHTTP("… behind a proxy", "remote editor", "editor", "X-Forwarded-For", "192.0.2.1"),
		overHTTP("modern agent", "token agent", "agent"),
		overHTTP("modern named as 1", "token session 1", "session "+first.id),
		overHTTP("modern, no name", "token", "-"),
	}
	other := w.Settings(t, nil, w.siyuanSection(w.URL()), `"log":{"level":"debug"}`) // with other settings, a pipe does not share the gateway
	for _, p := range []struct{ name, settings string }{{"bridge", w.settings}, {"pipe", other}} {
		for _, era := range []string{legacy, modern} {
			for n := range 2 {
				name := fmt.Sprintf("%s %s %d", p.name, map[string]string{legacy: "legacy", modern: "modern"}[era], n+1)
				run := connectStdio(t, w.StartStdio(t, s.Home, p.settings), era, none)
				list = append(list, confirmCaller{name, name, run.call})
				run.call(t, nil)
				if alone := strings.Contains(run.Stderr(), "for this client alone"); alone != (p.name == "pipe") {
					t.Fatalf("%s serves alone: %t\n%s", name, alone, run.Stderr())
				}
			}
		}
	}
	for _, dialogue := range []bool{false, true} {
		list = append(list, confirmCaller{
			map[bool]string{false: "API", true: "API dialogue"}[dialogue], "token at the API",
			func(t *testing.T, _ func(gjson.Result)) gjson.Result {
				_, last := s.callAPI(t, s.token, dialogue, `,"capabilities":{"elicitation":{}},"confirms":true`)
				return last
			},
		})
	}
	return append(list, confirmCaller{"own command", "", func(t *testing.T, _ func(gjson.Result)) gjson.Result {
		run := w.runCLIIn(t, s.Home, nil, "--config", w.settings, "--json", "system", "workspace-info")
		if run.code == 5 {
			return gjson.Parse(`{"error":{"type":"confirmation_needed"}}`)
		}
		return gjson.Parse(`{"result":` + run.out + `}`)
	}})
}

// outcomeTable prints the outcomes, one row for each caller.
type outcomeTable struct {
	strings.Builder
	*tabwriter.Writer
}

func newOutcomeTable() *outcomeTable {
	out := &outcomeTable{}
	out.Writer = tabwriter.NewWriter(&out.Builder, 0, 0, 2, ' ', 0)
	return out
}

func (tb *outcomeTable) addRow(cells ...string) { fmt.Fprintln(tb.Writer, strings.Join(cells, "\t")) }

func (tb *outcomeTable) text() string {
	_ = tb.Flush()
	return "\n" + tb.String()
}

// TestWhoMayUseAnApproval lets each caller make the dangerous call, approves its code, and then lets every other caller
// make the call. The call runs once, and only for callers with the same identity as the one that was shown the code.
func TestWhoMayUseAnApproval(t *testing.T) {
	t.Parallel()
	w, s, pending := confirmWorld(t)
	list := confirmCallers(t, w, s)
	tb := newOutcomeTable()
	head := []string{"asked by \\ made by"}
	for n, d := range list {
		head = append(head, fmt.Sprint(n+1))
		if d.who == "" {
			head[len(head)-1] = "own"
		}
	}
	tb.addRow(head...)
	used := 0
	for n, asker := range list {
		row := []string{fmt.Sprintf("%2d %s", n+1, asker.name)}
		for _, user := range list {
			code, ok := strings.CutPrefix(outcomeOf(asker.call(t, nil)), "code ")
			if !ok {
				if asker.who != "" {
					t.Fatalf("%s gets %q and no code", asker.name, code)
				}
				row = append(row, "-") // commands are asked at the terminal and leave no waiting call
				continue
			}
			if _, err := pending.Answer(t.Context(), code, true); err != nil {
				t.Fatal(err)
			}
			got, same := outcomeOf(user.call(t, nil)), asker.who == user.who
			if ran := got == "ran"; ran != same {
				t.Errorf("asked by %s, made by %s: %s, want it to run: %t", asker.name, user.name, got, same)
			}
			row = append(row, map[bool]string{true: "runs", false: "."}[got == "ran"])
			if got != "ran" { // the approval still counts for its own caller
				if again := outcomeOf(asker.call(t, nil)); again != "ran" {
					t.Errorf("asked by %s, after a try by %s: %s", asker.name, user.name, again)
				}
			}
			if again := outcomeOf(asker.call(t, nil)); !strings.HasPrefix(again, "code ") {
				t.Errorf("asked by %s, a second time: %s", asker.name, again)
			}
			used++
		}
		tb.addRow(row...)
	}
	t.Logf("%d approvals; %s", used, tb.text())
}

// TestOneApprovalRunsOnce makes the approved call ten times at once: it runs once, and the others get new codes.
func TestOneApprovalRunsOnce(t *testing.T) {
	t.Parallel()
	_, s, pending := confirmWorld(t)
	for _, era := range []string{legacy, modern} {
		call := s.openLegacy(t, s.token, `{}`).call
		if era == modern {
			call = func(t *testing.T, _ func(gjson.Result)) gjson.Result {
				return s.callModern(t, s.token, "editor", `{}`, dangerousCall)
			}
		}
		code := strings.TrimPrefix(outcomeOf(call(t, nil)), "code ")
		if _, err := pending.Answer(t.Context(), code, true); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		got := map[string]int{}
		for range 10 {
			wg.Go(func() {
				v, _, _ := strings.Cut(outcomeOf(call(t, nil)), " ")
				mu.Lock()
				defer mu.Unlock()
				got[v]++
			})
		}
		wg.Wait()
		if got["ran"] != 1 || got["code"] != 9 {
			t.Errorf("%s: %v, want one to run and nine codes", era, got)
		}
	}
}
