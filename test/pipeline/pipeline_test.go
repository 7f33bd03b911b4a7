package pipeline_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/internal/pipeline/audit"
	"collie/internal/source/upstream/registry/registrytest"
	"collie/test/await"
	"collie/test/gateway"
)

// startWorld runs a gateway with one server in the flat view (s) and one in the grouped view (g).
func startWorld(t *testing.T) *world {
	t.Helper()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{
		{Name: "s"}, {Name: "g", Flags: []string{"--scheme", "other", "--without", "prompts"}, More: `"view":"grouped"`},
	}, `"mcp":{"registry":"`+registrytest.Serve(t, registrytest.Weather)+`"}`)
	w := &world{Gateway: p.Serve(t, settings), settings: settings}
	w.AwaitReady(t)
	w.token, w.control, w.bridge = w.Keys(t)
	return w
}

// Each call, whatever its entry point, leaves exactly one pair of records with its own kind, origin and outcome.
func TestEachCallLeavesOnePair(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	seen := 0
	for _, d := range drivers {
		t.Run(strings.ReplaceAll(d.entry+" "+d.how, "/", "_"), func(t *testing.T) {
			call := d.open(t, w)
			for _, a := range attempts[d.kind] {
				if d.looksUp && a.name == "g" {
					continue // the command line calls the actions of a group by their own names
				}
				if err := call(a); err != nil {
					t.Fatalf("%s %s: %v", a.name, a.args, err)
				}
				if d.looksUp && a.name == unknownName {
					continue
				}
				seen += 2
				checkPair(t, w, seen, d, a)
			}
		})
	}
	w.Signal(syscall.SIGTERM)
	w.AwaitExit(20 * time.Second)
	if n := len(gateway.Records(t, w.Home)); n != seen {
		t.Errorf("%d records of %d calls", n, seen/2)
	}
}

// checkPair waits until the audit has total records, and checks that the last two are those of the attempt a.
func checkPair(t *testing.T, w *world, total int, d driver, a attempt) {
	t.Helper()
	var all []audit.Entry
	await.Until(t, fmt.Sprintf("%s %s: %d records", a.name, a.args, total), func() bool {
		all = gateway.Records(t, w.Home)
		return len(all) >= total
	})
	if len(all) != total {
		t.Fatalf("%s %s: %d records in all, want %d: %s", a.name, a.args, len(all), total, summarize(all[max(0, len(all)-4):]))
	}
	start, end := all[total-2], all[total-1]
	ok := start.CallID == end.CallID && start.CallID != "" && start.Kind == string(d.kind)+".start" && end.Kind == string(d.kind)+".result" &&
		start.Origin == string(d.origin) && end.Origin == string(d.origin) && start.Name == a.name && start.Principal != "" &&
		end.Outcome == string(a.outcome)
	if !ok {
		t.Errorf("%s %s: want a pair of kind %s, origin %s, outcome %s, got %s", a.name, a.args, d.kind, d.origin, a.outcome, summarize(all[total-2:]))
	}
}

// summarize returns what matters of records as text.
func summarize(entries []audit.Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s %s origin %s principal %q name %q outcome %q %s %s", e.Kind, e.CallID, e.Origin, e.Principal, e.Name, e.Outcome, e.ErrorType, e.Message))
	}
	return strings.Join(out, "; ")
}

// Entry points of class read and manage run nothing: they leave no record of a call.
func TestReadsAreNoCalls(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	params := map[string]string{
		"resources/subscribe":   `{"uri":"fake://static/hello"}`,
		"resources/unsubscribe": `{"uri":"fake://static/hello"}`,
		"logging/setLevel":      `{"level":"debug"}`,
	}
	if status, answer, err := w.sendToAPI(t.Context(), http.MethodPut, "/api/v1/agents/agents/s", "application/json", w.control, `{"text":"---\ndescription: answers briefly\n---\n\nBe brief."}`); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %s, %v", status, answer, err)
	}
	legacy, modern := w.Dial(t, gateway.Legacy, w.token), w.Dial(t, gateway.Modern, w.token)
	for entry, class := range classByEntry() {
		way, what, _ := strings.Cut(entry, " ")
		switch {
		case class == "call" || class == "chat" || what == "subscriptions/listen": // a subscription never ends
		case way == "mcp":
			_, old := legacy.Do(t.Context(), what, params[what])
			_, recent := modern.Do(t.Context(), what, params[what])
			if old != nil && recent != nil {
				t.Errorf("%s: legacy %v, modern %v", what, old, recent)
			}
		case way == "http":
			method, path, _ := strings.Cut(what, " ")
			path = strings.Replace(path, "agents/{kind}", "agents/agents", 1)
			path = strings.NewReplacer("{name}", "s", "{kind}", "tools", "registry/server", "registry/server?name=io.github.example/mcp-server-weather").Replace(path)
			if method != http.MethodGet {
				continue // changes leave records of their own kind
			}
			status, body, err := w.sendToAPI(t.Context(), method, path, "", w.control, "")
			off := strings.HasPrefix(path, "/api/v1/notes/") && strings.Contains(body, "siyuan.enabled is false") // as these settings require
			if err != nil || status != http.StatusOK && !off {
				t.Errorf("%s: status %d, %.200s, %v", what, status, body, err)
			}
			// Other keys may read, but not use the routes of class manage.
			for _, key := range []string{w.token, w.bridge} {
				status, body, err := w.sendToAPI(t.Context(), method, path, "", key, "")
				if denied := status == http.StatusForbidden; err != nil || denied != (class == "manage") {
					t.Errorf("%s, which is of class %s, with another key: status %d, %.200s, %v", what, class, status, body, err)
				}
			}
		}
	}
	for _, line := range [][]string{{"tools"}, {"tools", "g"}, {"version"}} {
		if stdout, stderr, code := w.Run(t, w.Home, append(line, "--config", w.settings)...); code != 0 {
			t.Errorf("collie %v: exit code %d, %s %s", line, code, stdout, stderr)
		}
	}
	w.Signal(syscall.SIGTERM)
	w.AwaitExit(20 * time.Second)
	calls := slices.DeleteFunc(gateway.Records(t, w.Home), func(e audit.Entry) bool { return e.Kind == "change" })
	if len(calls) > 0 {
		t.Errorf("records of calls that nobody made: %s", summarize(calls))
	}
}
