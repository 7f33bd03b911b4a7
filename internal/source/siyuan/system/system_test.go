package system_test

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/system"
	"collie/internal/tool"
)

func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, system.Tool(), name)
}

// answerEndpoint makes the kit's kernel answer data to one endpoint.
func answerEndpoint(t *testing.T, kit *actiontest.Kit, endpoint, data string) {
	t.Helper()
	kit.Client = kernel.New(kit.URL(), kernel.Options{Transport: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != endpoint {
			return http.DefaultTransport.RoundTrip(r)
		}
		body := fmt.Sprintf(`{"code":0,"msg":"","data":%s}`, data)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})})
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, system.Tool(), actiontest.Told{
		Actions:   []string{"workspace_info", "network", "conf", "notify", "get_version", "get_current_time", "bootstrap"},
		Dangerous: []string{"workspace_info"},
		Off:       []string{"workspace_info", "conf"},
	})
}

// TestExamplesRun runs the example of every action and checks that it uses only endpoints that it declares. All
// notebooks are hidden: these actions need no level.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Notebook("Secret 秘密")
	kit.Default = access.None
	for _, a := range system.Tool().Actions {
		kit.ResetCalls()
		got := kit.Must(t, a, a.Example)
		if strings.Contains(got.Raw, "Secret") || strings.Contains(got.Raw, "TEST_TOKEN") {
			t.Errorf("%s: %s", a.Name, got.Raw)
		}
		for _, c := range kit.Calls() {
			if !slices.Contains(a.Endpoints, strings.TrimPrefix(c.Path, "/api/")) {
				t.Errorf("%s uses %s, which it does not declare", a.Name, c.Path)
			}
		}
		if len(kit.Writes()) != 0 {
			t.Errorf("%s writes: %v", a.Name, kit.Writes())
		}
	}
}

func TestVersionTimeAndWorkspace(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	if got := kit.Must(t, findAction(t, "get_version"), `{}`); got.Get("version").Str != kerneltest.Version {
		t.Errorf("%s", got.Raw)
	}
	got := kit.Must(t, findAction(t, "get_current_time"), `{}`)
	at, err := time.Parse(time.RFC3339, got.Get("iso").Str)
	if err != nil || at.Unix() != got.Get("currentTime").Int()/1000 {
		t.Errorf("%s: %v", got.Raw, err)
	}
	info := kit.Must(t, findAction(t, "workspace_info"), `{}`)
	if !path.IsAbs(info.Get("workspaceDir").Str) || info.Get("siyuanVer").Str != kerneltest.Version {
		t.Errorf("%s", info.Raw)
	}
}

func TestNetworkHidesCredentials(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	none := `{"proxy":{"scheme":"","host":"","port":""},"configured":false}`
	if got := kit.Must(t, findAction(t, "network"), `{}`); got.Raw != none {
		t.Errorf("%s, want %s", got.Raw, none)
	}
	answerEndpoint(t, kit, "/api/system/getNetwork", `{"proxy":{"scheme":"http","host":"me:p@ss@proxy.example","port":"8080"}}`)
	want := `{"proxy":{"scheme":"http","host":"proxy.example","port":"8080"},"configured":true}`
	if got := kit.Must(t, findAction(t, "network"), `{}`); got.Raw != want {
		t.Errorf("%s, want %s", got.Raw, want)
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	notify := findAction(t, "notify")
	got := kit.Must(t, notify, `{"message":"<b>Done</b> & 完成","level":"info"}`)
	if got.Get("level").Str != "info" || got.Get("id").Str == "" {
		t.Errorf("%s", got.Raw)
	}
	kit.Must(t, notify, `{"msg":"bad","level":"error","timeout":100}`)
	calls := kit.Calls()
	if len(calls) != 2 || calls[0].Path != "/api/notification/pushMsg" || calls[1].Path != "/api/notification/pushErrMsg" {
		t.Fatalf("%v", calls)
	}
	// SiYuan shows messages as HTML, and an agent's text must not run in it.
	if msg := calls[0].Get("msg").Str; msg != "&lt;b&gt;Done&lt;/b&gt; &amp; 完成" {
		t.Errorf("%q", msg)
	}
	if calls[0].Get("timeout").Int() != 7000 || calls[1].Get("timeout").Int() != 100 {
		t.Errorf("%v", calls)
	}
	kit.ResetCalls()
	kit.Refused(t, notify, `{"msg":" \n\t","level":"info"}`, tool.Invalid)
	kit.Refused(t, notify, `{"level":"info"}`, tool.Invalid)
	kit.Refused(t, notify, `{"msg":"x"}`, tool.Invalid)
	if len(kit.Calls()) != 0 {
		t.Errorf("a refused message was sent: %v", kit.Calls())
	}
}

func TestConf(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	conf := findAction(t, "conf")
	got := kit.Must(t, conf, `{}`)
	if got.Get("mode").Str != "summary" || got.Get("topLevelKeys.#").Int() != 12 || got.Get("totalTopLevelKeys").Int() != 12+got.Get("truncatedTopLevelKeys").Int() {
		t.Errorf("%s", got.Raw)
	}
	if v := kit.Must(t, conf, `{"path":"editor.fontSize"}`); v.Get("mode").Str != "get" || v.Get("value.value").Int() != 16 {
		t.Errorf("%s", v.Raw)
	}
	answerEndpoint(t, kit, "/api/system/getConf", `{"conf":{"api":{"token":"hush"},"list":[1,2],"one":1}}`)
	if v := kit.Must(t, conf, `{"mode":"get","keyPath":"api"}`); strings.Contains(v.Raw, "hush") || v.Get("value.entries.token.value").Str != "[REDACTED]" {
		t.Errorf("%s", v.Raw)
	}
	for args, part := range map[string]string{
		`{"mode":"get"}`:                    "is required",
		`{"mode":"get","keyPath":"apx"}`:    "api, list, one",
		`{"mode":"get","keyPath":"list.x"}`: "list of 2",
		`{"keyPath":"one.x"}`:               "single value",
		`{"keyPath":"a..b"}`:                "expected keys and indices",
		`{"keyPath":"list[2]"}`:             "list of 2",
	} {
		if err := kit.Refused(t, conf, args, tool.Invalid); !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q in it", args, err, part)
		}
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, journal, secret := kit.Notebook("Work"), kit.Notebook("Journal"), kit.Notebook("Secret 秘密")
	kit.Levels = map[kernel.ID]access.Level{kernel.ID(journal): access.Read, kernel.ID(secret): access.None}
	kit.AllTool = []action.Tool{system.Tool(), {Name: "mascot"}}
	kit.Config.ToolOn = map[string]bool{"system": true}
	kit.Config.On = map[string]map[string]bool{"system": {}}
	for _, a := range system.Tool().Actions {
		kit.Config.On["system"][a.Name] = !a.Off
	}
	kit.Config.Memory = "the user likes green tea"
	got := kit.Must(t, findAction(t, "bootstrap"), `{}`)
	levels := map[string]string{}
	for _, n := range got.Get("notebooks").Array() {
		levels[n.Get("name").Str+" "+n.Get("id").Str] = n.Get("permission").Str
	}
	if diff := cmp.Diff(map[string]string{"Work " + work: "rwd", "Journal " + journal: "r"}, levels); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(got.Raw, secret) || strings.Contains(got.Raw, "Secret") {
		t.Errorf("a hidden notebook shows: %s", got.Raw)
	}
	if diff := cmp.Diff(`{"name":"test","notebooks":2,"writable":1}`, got.Get("connection").Raw); diff != "" {
		t.Error(diff)
	}
	if got.Get("restrictedNotebookCount").Int() != 1 || got.Get("version.kernel").Str != kerneltest.Version || got.Get("schemaVersion").Int() != 2 {
		t.Errorf("%s", got.Raw)
	}
	if diff := cmp.Diff(`["system.workspace_info","system.conf","mascot"]`, got.Get("toolConfiguration.switchedOff").Raw); diff != "" {
		t.Error(diff)
	}
	if got.Get("memory.status").Str != "written" || strings.Contains(got.Raw, "green tea") {
		t.Errorf("%s", got.Raw)
	}
}

func TestKernelDown(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Client = kernel.New("http://127.0.0.1:1", kernel.Options{Waits: []time.Duration{}})
	for _, a := range system.Tool().Actions {
		kit.Refused(t, a, a.Example, tool.Unavailable)
	}
}

// TestConfTellsNothingOfNotes: the layout of the window has ids and titles of what is open, of any notebook.
func TestConfTellsNothingOfNotes(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	hidden := kernel.ID(kit.Notebook("Hidden"))
	conf := findAction(t, "conf")
	answerEndpoint(t, kit, "/api/system/getConf", `{"conf":{"editor":{"fontSize":16},"uiLayout":{"layout":{"children":[{"title":"HUSH","rootId":"HUSH"}]}},
		"stat":{"treeCount":777},"onboarding":{"documentID":"HUSH"},"fileTree":{"sort":6,"refCreateSaveBox":"HUSH","docCreateSavePath":"/HUSH/x"},"later":{"notes":["HUSH"]}}}`)
	for _, level := range []access.Level{access.Read, access.None} {
		kit.Levels[hidden] = level
		for _, args := range []string{`{"maxDepth":5,"maxItems":100}`, `{"keyPath":"fileTree","maxDepth":5}`} {
			got := kit.Must(t, conf, args)
			if strings.Contains(got.Raw, "HUSH") != (level == access.Read) || level == access.None && strings.Contains(got.Raw, "777") {
				t.Errorf("at %s, %s: %s", level, args, got.Raw)
			}
			if !strings.Contains(got.Raw, `"value":6`) {
				t.Errorf("at %s, %s: what is not a place is missing: %s", level, args, got.Raw)
			}
		}
	}
	for _, path := range []string{"uiLayout", "stat.treeCount", "later.notes[0]", "onboarding"} {
		if err := kit.Refused(t, conf, actiontest.Args("keyPath", path), tool.Invalid); strings.Contains(err.Error(), "HUSH") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
