//go:build stories

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/binary"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// publicAgent is an agent that people use, with the way to make it use the fake model. Its program is installed in
// test/clients.
type publicAgent struct {
	name    string
	command []string // below node_modules; Node is put before a script
	script  bool
	shell   string // its tool that runs commands
	allow   string // the request it sends first, for Collie's tools; empty if it sends none
	prepare func(t *testing.T, home, fake string)
	asks    []string // hosts that it contacts on its own; a proxy refuses that
}

var publicAgents = []publicAgent{
	{
		name: "gemini", command: []string{"@google/gemini-cli/bundle/gemini.js", "--acp", "--skip-trust", "--model", "fake-1"}, script: true,
		shell: "run_shell_command", allow: "cli.gemini.other",
		prepare: func(t *testing.T, home, fake string) {
			t.Setenv("GEMINI_API_KEY", "fake")
			t.Setenv("GOOGLE_GEMINI_BASE_URL", fake)
			keep(t, filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},
				"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false}}`)
		},
	},
	{
		name: "opencode", command: []string{"opencode-linux-x64-baseline/bin/opencode", "acp"}, shell: "bash",
		prepare: func(t *testing.T, home, fake string) {
			t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			keep(t, filepath.Join(home, ".config", "opencode", "opencode.json"), fmt.Sprintf(`{"autoupdate":false,"share":"disabled","permission":{"bash":"ask"},
				"model":"fake/fake-1","provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake","options":{"baseURL":%q,"apiKey":"fake"},
				"models":{"fake-1":{"name":"Fake","tool_call":true}}}}}`, fake+"/v1"))
			for _, name := range []string{"AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"} {
				t.Setenv("OPENCODE_DISABLE_"+name, "1")
			}
		},
		asks: []string{"registry.npmjs.org:443"},
	},
}

// keep writes a file.
func keep(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPublicAgents runs agents that people use: they work with Collie's tools, ask before they use their own, and end when
// they are cancelled or killed.
func TestPublicAgents(t *testing.T) {
	for _, a := range publicAgents {
		t.Run(a.name, func(t *testing.T) {
			s := a.start(t)
			t.Run("a tool of its own is refused", func(t *testing.T) {
				_, stderr, code := s.run(t, "look and make")
				if code != 0 || !strings.Contains(stderr, "✗ cli."+a.name+".execute") || s.made() {
					t.Errorf("exit %d, made %t\n%s", code, s.made(), stderr)
				}
			})
			t.Run("all is allowed", func(t *testing.T) {
				out, stderr, code := s.run(t, "look and make", "--allow", "cli."+a.name+".execute")
				if code != 0 || !strings.Contains(out, "it is done") || !strings.Contains(stderr, "→ notebook") || !strings.Contains(stderr, "Welcome") || !s.made() {
					t.Errorf("exit %d, made %t\n%s\n%s", code, s.made(), out, stderr)
				}
				wantAuditedCalls(t, s.home, "cli."+a.name+".execute", 2)
				wantAuditedCalls(t, s.home, "notebook", 2)
			})
			g := s.ServeIn(t, s.home, s.settings)
			g.AwaitReady(t)
			t.Run("it is cancelled", func(t *testing.T) {
				turn := s.begin(t, g)
				post(t, g.URL+"/api/v1/turns/"+turn+"/cancel", g.Control(t), "application/json", `{}`)
				if end := awaitTurnEnd(t, g, turn); end.Get("state").String() != "cancelled" || !strings.HasPrefix(textOf(end), "here") {
					t.Errorf("it ended %s", end.Raw)
				}
				await.Until(t, "the agent has ended", func() bool { return len(s.processes(t)) == 0 })
			})
			t.Run("it is killed", func(t *testing.T) {
				turn := s.begin(t, g)
				for _, p := range s.processes(t) {
					_ = p.Kill()
				}
				if end := awaitTurnEnd(t, g, turn); end.Get("state").String() != "error" || !strings.Contains(end.Get("error.message").String(), a.name) {
					t.Errorf("it ended %s", end.Raw)
				}
			})
			g.Signal(os.Interrupt)
			g.ExitCode()
			s.AwaitNone(t, leaveLimit)
			for _, host := range s.asked() {
				if !slices.Contains(a.asks, host) {
					t.Errorf("the agent asked for %s; the story is to need 127.0.0.1 alone", host)
				}
			}
		})
	}
}

// publicHome is the home of a person who has one agent, with a fake model and a proxy that refuses other connections.
type publicHome struct {
	gateway.Programs
	agent          publicAgent
	home, settings string
	own, work      string // the home of the agent, and the folder of the terminal

	mu    sync.Mutex
	hosts []string
}

// start makes the home of an agent, with its fake model and its proxy, and the agent's definition for Collie.
func (a publicAgent) start(t *testing.T) *publicHome {
	t.Helper()
	modules := binary.Packages(t, "../clients")
	command := append([]string{filepath.Join(modules, a.command[0])}, a.command[1:]...)
	if a.script {
		command = append([]string{binary.Node(t, binary.Packages(t, "../conformance"))}, command...)
	}
	s := &publicHome{Programs: gateway.LinkPrograms(t), agent: a, home: t.TempDir()}
	s.settings = s.Settings(t, nil, `"siyuan":{}`)
	var err error
	if s.own, err = os.MkdirTemp("", "collie-agent-"); err != nil { //nolint:usetesting // sockets lie below, whose paths are short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.own) })
	s.work = filepath.Join(s.own, "work")
	if err := os.MkdirAll(s.work, 0o700); err != nil {
		t.Fatal(err)
	}
	fake, err := provider.New(a.says(), provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hosts = append(s.hosts, r.Host)
		s.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(func() {
		at.CloseClientConnections() // a silent answer would be waited for
		at.Close()
		outside.Close()
	})
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, outside.URL)
	}
	for name, value := range map[string]string{"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "HOME": s.own, "TMPDIR": s.own} {
		t.Setenv(name, value)
	}
	a.prepare(t, s.own, at.URL)
	t.Chdir(s.work)
	line, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	env := "[GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL, OPENCODE_DISABLE_AUTOUPDATE, OPENCODE_DISABLE_MODELS_FETCH, OPENCODE_DISABLE_LSP_DOWNLOAD, OPENCODE_DISABLE_DEFAULT_PLUGINS]"
	keep(t, filepath.Join(s.home, "agents", a.name+".md"), fmt.Sprintf("---\ndescription: from npm\nengine: cli\ncommand: %s\nenv: %s\n---\n", line, env))
	return s
}

// says is the script of the agent's model.
func (a publicAgent) says() provider.Script {
	shell, err := json.Marshal(map[string]string{"command": "touch made.txt", "description": "make a file"})
	if err != nil {
		panic(err)
	}
	return provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "look and make"}, Turns: []provider.Turn{callTurn("notebook", `{"action":"list"}`), callTurn(a.shell, string(shell)), {Say: "it is done"}}},
		// An answer outside of the conversation, for a title, has no tools and is not silent.
		{When: provider.When{Prompt: "say a little"}, Turns: []provider.Turn{{
			Say: "here it begins and never comes to its end, whatever happens", Chunk: 8, Fail: slices.Repeat([]provider.Failure{{After: 3, Hang: true}}, 9),
		}}},
	}}
}

func (s *publicHome) run(t *testing.T, text string, args ...string) (out, stderr string, code int) {
	t.Helper()
	args = append([]string{"agent", "run", text, "--agent", s.agent.name, "--config", s.settings}, args...)
	if s.agent.allow != "" {
		args = append(args, "--allow", s.agent.allow)
	}
	return s.Run(t, s.home, args...)
}

// begin has a gateway begin an answer that does not end, and returns the turn when a part of it is there.
func (s *publicHome) begin(t *testing.T, g *gateway.Gateway) (turn string) {
	t.Helper()
	control := g.Control(t)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", fmt.Sprintf(`{"config":{"agent":%q,"folder":%q}}`, s.agent.name, s.work))
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json", `{"userMessage":{"text":"say a little"}}`)
	turn = accepted.Get("turnId").String()
	await.Until(t, "the agent says something", func() bool {
		var now json.RawMessage
		g.Get(t, "/turns/"+turn, &now)
		return strings.HasPrefix(textOf(gjson.ParseBytes(now)), "here")
	})
	return turn
}

// made reports whether the agent's own tool has run.
func (s *publicHome) made() bool {
	_, err := os.Stat(filepath.Join(s.work, "made.txt"))
	return err == nil
}

// processes returns the processes of the agent.
func (s *publicHome) processes(t *testing.T) (out []*process.Process) {
	t.Helper()
	all, err := process.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		env, err := p.Environ()
		line, _ := p.Cmdline()
		if err == nil && slices.Contains(env, "HOME="+s.own) && strings.Contains(line, "node_modules") {
			out = append(out, p)
		}
	}
	return out
}

// asked returns the hosts that the proxy was asked to reach.
func (s *publicHome) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.hosts)))
}
