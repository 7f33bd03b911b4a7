package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"collie/internal/agent"
	"collie/internal/agent/acp/acptest"
	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
	"collie/test/await"
)

// runProgram runs a turn of engine cli with an agent that follows a script of [acptest]. modes change how the agent behaves.
func (w *fixture) runProgram(ctx context.Context, cfg chat.Config, script string, ask chat.Asker, modes ...string) (chat.Outcome, error) {
	w.t.Helper()
	w.files = &library.Library{Agents: []library.Agent{{
		Name: "fake", Engine: "cli", Command: acptest.Command(modes...), Env: []string{"NAMED"}, Prompt: "Be kind.", Level: w.level,
	}}}
	cfg.Engine, cfg.Agent = "cli", "fake"
	if cfg.Folder == "" {
		cfg.Folder = w.t.TempDir()
	}
	name, engine, err := w.agent.Engine(&cfg, textParts(script))
	if err != nil || name != "cli" {
		w.t.Fatal(name, err)
	}
	return engine.Run(ctx, &chat.Turn{
		ID: "t", Session: "s", Config: cfg, Principal: "me", Ask: ask, Person: true,
		Path: []llm.Message{
			{Role: llm.RoleUser, Parts: textParts("what I said before")},
			{Role: llm.RoleAssistant, Parts: textParts("what was answered")},
			{Role: llm.RoleUser, Parts: textParts(script)},
		},
	}, w)
}

func TestAnotherAgentAnswers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	out, err := w.runProgram(t.Context(), chat.Config{}, "think hm\ngarbage\nsay One, \nsay two.\ncall execute ls\nsay  Three.\nall", nil)
	if err != nil || out.Finish != llm.FinishStop {
		t.Fatal(out, err)
	}
	if !strings.HasPrefix(w.text, "One, two. Three.") {
		t.Errorf("it said %q", w.text)
	}
	for _, part := range []string{"Be kind.", "user: what I said before", "assistant: what was answered"} {
		if strings.Count(w.text, part) != 1 {
			t.Errorf("it was told %q, without %q once", w.text, part)
		}
	}
	if len(w.results) != 1 || w.results[0].Text != "did ls" || w.results[0].Name != "cli.fake.execute" {
		t.Errorf("its calls are %+v", w.results)
	}
}

// The agent of another program gets the rules and the memory from the notes, each once.
func TestAnotherAgentIsToldRulesAndMemory(t *testing.T) {
	t.Parallel()
	w, files := newNotesFixture(t)
	files["/USER_RULES.md"], files["/AGENTS.md"] = "Never say never.", "The cat is called Tom."
	if _, err := w.runProgram(t.Context(), chat.Config{}, "all", nil); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Never say never.", "The cat is called Tom."} {
		if strings.Count(w.text, part) != 1 {
			t.Errorf("it was told %q, without %q once", w.text, part)
		}
	}
	for _, c := range w.fake.Calls() {
		if c.Origin == tool.Direct || !strings.HasPrefix(c.Parent, "t:") {
			t.Errorf("read as %s, part of %q", c.Origin, c.Parent)
		}
	}
}

// The plan of an agent is shown again only when its steps change.
func TestAnotherAgentPlans(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	script := "plan in_progress:读信,pending:answer\nplan completed:读信,in_progress:answer\nplan completed:读信,completed:answer,in_progress:send\nsay done"
	if _, err := w.runProgram(t.Context(), chat.Config{}, script, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"the plan of fake:\n[~] 读信\n[ ] answer", "the plan of fake:\n[x] 读信\n[x] answer\n[~] send"}
	if diff := cmp.Diff(want, w.noticeTexts); diff != "" {
		t.Error(diff)
	}
}

// The usage that an agent reports last is shown once, and dollars are counted. Impossible figures are ignored.
func TestAnotherAgentReportsUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		used, want string
		cost       int64
	}{
		{`{"used":1200,"size":200000,"cost":{"amount":0.0315,"currency":"USD"}}`, "1200 of 200000 tokens in its context; cost 0.0315 USD", 31500},
		{`{"used":1200,"size":0,"cost":{"amount":3,"currency":"credits"}}`, "1200 tokens in its context; cost 3 credits", 0},
		{`{"used":1200,"size":7,"cost":null}`, "1200 tokens in its context", 0},
		{`{"used":-1,"size":10,"cost":{"amount":-2,"currency":"USD"}}`, "1 of 2 tokens in its context", 0},
		{`{"used":99999999999999999999,"size":1e400,"cost":{"amount":1e300,"currency":"USD"}}`, "1 of 2 tokens in its context", 0},
		{`{"used":"x","cost":{"amount":1,"currency":"a unit whose name is too long"}}`, "1 of 2 tokens in its context", 0},
	} {
		w := newFixture(t)
		if _, err := w.runProgram(t.Context(), chat.Config{}, "used {\"used\":1,\"size\":2}\nused "+c.used+"\nsay done", nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"fake says of this answer: " + c.want}, w.noticeTexts); diff != "" || w.cost != c.cost {
			t.Errorf("%s: cost %d, want %d\n%s", c.used, w.cost, c.cost, diff)
		}
	}
}

// Tokens that an agent reports with its answer are counted, whether or not its input includes cached tokens and its output
// includes reasoning. Impossible figures are ignored.
func TestAnotherAgentReportsTokens(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[string]llm.Usage{
		`{"inputTokens":10,"outputTokens":5,"totalTokens":15}`:                                                                 {Input: 10, Output: 5},
		`{"inputTokens":10,"outputTokens":5,"cachedReadTokens":100,"cachedWriteTokens":7,"thoughtTokens":3,"totalTokens":125}`: {Input: 117, Cached: 100, CacheWrite: 7, Output: 8, Reasoning: 3},
		`{"inputTokens":110,"outputTokens":5,"cachedReadTokens":100,"thoughtTokens":3,"totalTokens":115}`:                      {Input: 110, Cached: 100, Output: 5, Reasoning: 3},
		`{"inputTokens":-1,"outputTokens":1e300,"cachedReadTokens":"x"}`:                                                       {},
		`null`: {},
	} {
		w := newFixture(t)
		if _, err := w.runProgram(t.Context(), chat.Config{}, "tokens "+tokens+"\nsay done", nil); err != nil {
			t.Fatal(err)
		}
		if w.tokens != want {
			t.Errorf("%s: %+v, want %+v", tokens, w.tokens, want)
		}
	}
}

func TestAnotherAgentStops(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.Finish{"end_turn": llm.FinishStop, "max_tokens": llm.FinishLength, "refusal": llm.FinishRefusal} {
		if out, err := newFixture(t).runProgram(t.Context(), chat.Config{}, "stop "+reason, nil); out.Finish != want || err != nil {
			t.Errorf("%s: %v, %v", reason, out, err)
		}
	}
}

// Failures of other agents name the agent and the cause.
func TestAnotherAgentFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		modes  []string
		kind   tool.ErrorKind
		says   []string
	}{
		"crash":   {script: "say so far\nopen execute build\nexit 3 out of luck", kind: tool.Crashed, says: []string{"exit code 3", "out of luck"}},
		"refusal": {script: "refuse the model is gone", kind: tool.Upstream, says: []string{"session/prompt", "the model is gone"}},
		"version": {modes: []string{"version"}, kind: tool.Upstream, says: []string{"version 7", "expected 1"}},
		"sign in": {modes: []string{"signin"}, kind: tool.NeedsAuth, says: []string{"sign in"}},
		"itself":  {script: "stop cancelled", kind: tool.Canceled, says: []string{"stopped answering"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			_, err := w.runProgram(t.Context(), chat.Config{}, tt.script, nil, tt.modes...)
			e, ok := errors.AsType[*tool.Error](err)
			if !ok || e.Kind != tt.kind || e.Subject != "fake" {
				t.Fatalf("it failed with %v", err)
			}
			for _, part := range tt.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if name == "crash" && (w.text != "so far" || len(w.states) != 1 || w.states["cli.fake.execute0"] != chat.CallUnknown) {
				t.Errorf("it leaves %q, %v", w.text, w.states)
			}
		})
	}
}

func TestAnotherAgentIsMissing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, tt := range []struct {
		agents []library.Agent
		named  string
		says   string
	}{
		{says: "no agent of another program is here"},
		{agents: []library.Agent{{Name: "a", Command: []string{"x"}}, {Name: "b", Command: []string{"x"}}}, says: "several agents of other programs are here: a, b"},
		{agents: []library.Agent{{Name: "a"}}, named: "a", says: "has no command"},
	} {
		w.files = &library.Library{Agents: tt.agents}
		if _, _, err := w.agent.Engine(&chat.Config{Engine: "cli", Agent: tt.named}, textParts("x")); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v", tt.agents, err)
		}
	}
	w.files = &library.Library{Agents: []library.Agent{{Name: "a", Command: []string{"no-such-program-anywhere"}}}}
	_, engine, err := w.agent.Engine(&chat.Config{Engine: "cli"}, textParts("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Run(t.Context(), &chat.Turn{Config: chat.Config{Engine: "cli", Folder: t.TempDir()}, Person: true}, w); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("a missing program: %v", err)
	}
	if _, err = engine.Run(t.Context(), &chat.Turn{Config: chat.Config{Engine: "cli"}}, w); tool.KindOf(err) != tool.Denied {
		t.Errorf("a turn of a token: %v", err)
	}
}

// An agent gets only the variables that every program needs and those that its file names.
func TestAnotherAgentGetsFewVariables(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	dir := t.TempDir()
	if _, err := w.runProgram(t.Context(), chat.Config{Folder: dir}, "env NAMED\nenv SECRET_KEY\nenv XDG_DATA_HOME\ndir", nil); err != nil {
		t.Fatal(err)
	}
	if want := "NAMED=yes,true SECRET_KEY=,false XDG_DATA_HOME=/d,true " + dir; w.text != want {
		t.Errorf("it knows %q, want %q", w.text, want)
	}
}

func TestAnotherAgentIsCancelled(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"say a\nopen execute build\nhang", "say a\nopen execute build\ndeaf"} {
		w := newFixture(t)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			await.Until(t, "the agent says something", func() bool { return w.textSoFar() != "" })
			cancel(cause)
		}()
		start := time.Now()
		if _, err := w.runProgram(ctx, chat.Config{}, script, nil); !errors.Is(err, cause) {
			t.Errorf("%q ended with %v", script, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%q took %v to end", script, took)
		}
		if w.text != "a" || w.states["cli.fake.execute0"] != chat.CallUnknown {
			t.Errorf("%q leaves %q, %v", script, w.text, w.states)
		}
	}
}

func (w *fixture) textSoFar() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}

// A call for which an agent asks permission is a question to the person, allowed once, and recorded like a call.
func TestAnotherAgentAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ask    chat.Asker
		allow  []string
		level  string
		script string
		says   string
		asked  int
		state  chat.CallState
	}{
		"yes":          {ask: fixedPerson(`{"confirm":true}`), script: "permit execute make", says: "[yes]", asked: 1, state: chat.CallDone},
		"no":           {ask: fixedPerson(`{"confirm":false}`), script: "permit execute make", says: "[no]", asked: 1, state: chat.CallRefused},
		"nobody":       {script: "permit edit a.txt", says: "[no]", state: chat.CallRefused},
		"beforehand":   {allow: []string{"cli.fake.edit"}, script: "permit edit a.txt", says: "[yes]", state: chat.CallDone},
		"another kind": {allow: []string{"cli.fake.edit"}, script: "permit execute make", says: "[no]", state: chat.CallRefused},
		"level":        {ask: fixedPerson(`{"confirm":true}`), level: "r", script: "permit edit a.txt", says: "[no]", state: chat.CallRefused},
		"level reads":  {ask: fixedPerson(`{"confirm":true}`), level: "r", script: "permit read a.txt", says: "[yes]", asked: 1, state: chat.CallDone},
		"rule":         {ask: fixedPerson(`{"confirm":true}`), script: "permit execute rm -rf /", says: "[no]", state: chat.CallRefused},
		"unheard of":   {ask: fixedPerson(`{"confirm":true}`), script: "permit teleport me", says: "[yes]", asked: 1, state: chat.CallDone},
		"again":        {ask: fixedPerson(`{"confirm":false}`), script: "permit edit a\npermit edit a\npermit edit a\npermit edit a", says: "[no][no][no][no]", asked: 3, state: chat.CallRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.level = tt.level
			if _, err := w.runProgram(t.Context(), chat.Config{Allow: tt.allow}, tt.script, tt.ask); err != nil {
				t.Fatal(err)
			}
			if w.text != tt.says || w.asking != tt.asked {
				t.Errorf("it was told %q, and %d questions were asked", w.text, w.asking)
			}
			if len(w.states) == 0 || len(w.states) != strings.Count(tt.says, "[") {
				t.Errorf("the calls are %v", w.states)
			}
			for call, state := range w.states {
				if state != tt.state || !strings.HasPrefix(call, "cli.fake.") {
					t.Errorf("%s is %s", call, state)
				}
			}
		})
	}
}

// Another agent is offered the tools of the turn. It may read; the person is asked before it changes something. Its token
// is invalid after the turn.
func TestAnotherAgentHasOurTools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config chat.Config
		level  string
		ask    chat.Asker
		script string
		says   string
		states map[string]chat.CallState
		asked  int
	}{
		"list":    {script: "mcp list", says: `"files__write"`},
		"read":    {script: `mcp files__read {"path":"a"}`, says: `"content"`, states: map[string]chat.CallState{"files__read0": chat.CallDone}},
		"yes":     {ask: fixedPerson(`{"confirm":true}`), script: "mcp files__write", says: `"content"`, states: map[string]chat.CallState{"files__write0": chat.CallDone}, asked: 1},
		"no":      {ask: fixedPerson(`{"confirm":false}`), script: "mcp files__write", says: "did not agree", states: map[string]chat.CallState{"files__write0": chat.CallRefused}, asked: 1},
		"nobody":  {script: "mcp files__write", says: "nobody is available", states: map[string]chat.CallState{"files__write0": chat.CallRefused}},
		"allowed": {config: chat.Config{Allow: []string{"files.write"}}, script: "mcp files__write", says: `"content"`, states: map[string]chat.CallState{"files__write0": chat.CallDone}},
		"level":   {level: "r", ask: fixedPerson(`{"confirm":true}`), script: "mcp files__write", says: "only reads", states: map[string]chat.CallState{"files__write0": chat.CallRefused}},
		"pattern": {config: chat.Config{Tools: []string{"*read"}}, ask: fixedPerson(`{"confirm":true}`), script: "mcp files__write", says: "no such tool", states: map[string]chat.CallState{"files__write0": chat.CallRefused}},
		"missing": {script: "mcp nothing", says: "nothing", states: map[string]chat.CallState{"nothing0": chat.CallRefused}},
		"often": {
			ask: fixedPerson(`{"confirm":false}`), script: strings.Repeat("mcp files__write\n", 4), says: "the person is not asked about it again",
			states: map[string]chat.CallState{"files__write0": chat.CallRefused, "files__write1": chat.CallRefused, "files__write2": chat.CallRefused, "files__write3": chat.CallRefused},
			asked:  3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.level = tt.level
			if _, err := w.runProgram(t.Context(), tt.config, tt.script, tt.ask); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(w.text, tt.says) || w.asking != tt.asked {
				t.Errorf("it was answered %s, and %d questions were asked", w.text, w.asking)
			}
			if diff := cmp.Diff(tt.states, w.states, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("calls (-want +got)\n%s", diff)
			}
			for _, c := range w.fake.Calls() {
				if c.Origin != tool.CLIAgent || c.Parent != "t:0" || c.Session != "s" {
					t.Errorf("a call came from %s, %s, %s", c.Origin, c.Parent, c.Session)
				}
			}
			if w.endpoints != 1 || w.open != 0 {
				t.Errorf("%d endpoints were opened, and %d are open", w.endpoints, w.open)
			}
		})
	}
}

// An agent that sends nothing is given up.
func TestAnotherAgentIsSilent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.opts.Programs.Silence = 50 * time.Millisecond
	w.agent = agent.New(w.opts)
	_, err := w.runProgram(t.Context(), chat.Config{}, "say a\nhang", nil)
	if tool.KindOf(err) != tool.Timeout || !strings.Contains(err.Error(), "fake: it showed no activity for 50ms") {
		t.Errorf("it ended with %v", err)
	}
}
