package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
	"collie/test/terminal"
)

// TestFirstScreen measures how soon `collie chat` shows its first screen. The budget is 150 ms; the median of eleven starts
// may be at most five times that.
func TestFirstScreen(t *testing.T) {
	p, settings := world(t, answers())
	home := t.TempDir()
	var took []time.Duration
	for range 11 {
		begun := time.Now()
		s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", home, "--config", settings)
		s.Shows("collie chat")
		took = append(took, time.Since(begun))
		s.Types("\x03\x03")
		s.Ends(0)
	}
	slices.Sort(took)
	await.Within(t, "the first screen, median", took[len(took)/2], 5*150*time.Millisecond)
}

// TestChatAtATerminal uses `collie chat` as a person does: it gets an answer, confirms a call, and finds an unsent draft
// again after a restart.
func TestChatAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, answers(
		provider.Turn{Say: "# 茶\n\n乌龙 **at** four"},
		calls("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "it is there"},
		provider.Turn{Say: "it is said"},
	))
	home := t.TempDir()
	chat := func(size terminal.Size, args ...string) *terminal.Screen {
		return terminal.Run(t, size, p.Collie, append([]string{"chat", "--home", home, "--config", settings}, args...)...)
	}
	s := chat(terminal.Size{Columns: 80, Rows: 24})
	s.Shows("collie chat")
	s.Types("你好\r") // most likely before the conversation is open
	s.Shows("乌龙", "tokens in")
	s.Types("rename it\r")
	s.Shows("Run it?")
	s.Resize(terminal.Size{Columns: 40, Rows: 12})
	s.Types("y")
	s.Shows("it is there", "tokens in")
	s.Types("half typed")
	s.Types("\x03")
	s.Shows("again leaves")
	s.Types("\x03")
	s.Ends(0)

	s = chat(terminal.Size{Columns: 200, Rows: 60}, "--continue")
	s.Shows("half typed")
	s.Types("\x04\x03\x03")
	s.Ends(0)

	s = chat(terminal.Size{Columns: 80, Rows: 24}, "--continue", "and again")
	s.Shows("it is said", "tokens in", "half typed") // what was being typed waits for its turn
	s.Types("\x03\x03")
	s.Ends(0)

	out, stderr, code := p.RunOn(t, home, strings.NewReader("/fs ls --path /Welcome\n"), "chat", "--continue", "--config", settings)
	if code != 0 || !strings.Contains(out, "Minutes") {
		t.Errorf("exit %d, want the document by the name that was agreed to\n%s\n%s", code, out, stderr)
	}
	p.AwaitNone(t, leaveLimit)
}

// TestBranchesAtATerminal edits a message, has it answered again, switches between the branches that arise, and attaches
// a file. Calls of a turn that answers again need a confirmation too.
func TestBranchesAtATerminal(t *testing.T) {
	t.Parallel()
	move := calls("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)
	p, settings := world(t, provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "move it"}, Turns: []provider.Turn{move, {Say: "it is there"}, {Say: "I read the file"}}},
		{Turns: []provider.Turn{{Say: "oolong"}}},
	}})
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "乌龙.txt"), []byte("steep it for three minutes"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", home, "--config", settings)
	s.Shows("collie chat")
	s.Types("茶 or coffee?\r")
	s.Shows("oolong", "tokens in")
	s.Types("/aga")
	s.Shows("answered once more")
	s.Types("\t\r")
	s.Shows("oolong", "tokens in")
	s.Types("/branches\r")
	s.Shows("1  2/2  answer")
	s.Types("/branch 1\r")
	s.Shows("branch 1/2", "oolong")
	s.Types("/edit\r")
	s.Shows("in place of an earlier message")
	s.Types(" then move it\r")
	s.Shows("茶 or coffee? then move it", "Run it?")
	s.Types("n")
	s.Shows("it is there", "tokens in")
	s.Types("/branches\r")
	s.Shows("1  2/2  you")
	s.Types("/branch 9 9\r")
	s.Shows("which one?")
	s.Types("\x15/again")
	s.Shows("answered once more") // so that the question is drawn again
	s.Types("\r")
	s.Shows("Run it?")
	s.Types("y")
	s.Shows("it is there", "tokens in")
	s.Types("read @" + dir + "/乌")
	s.Types("\t")
	s.Shows("乌龙.txt")
	s.Types("and @nothing.txt\r")
	s.Shows("there is no file nothing.txt", "I read the file", "tokens in")
	s.Types("/new\r")
	s.Shows("a new conversation")
	s.Types("\x03\x03")
	s.Ends(0)

	out, stderr, code := p.RunOn(t, home, strings.NewReader("/branches\n/edit 7\n"), "chat", "--continue", "--config", settings)
	if code == 0 || !strings.Contains(out, "1  2/2  you") || !strings.Contains(out, "2  2/2  answer") || !strings.Contains(stderr, "there are only 2 messages of yours") {
		t.Errorf("exit %d\n%s\n%s", code, out, stderr)
	}
	exported, stderr, code := p.Run(t, home, "sessions", "export", newest(t, p, home, settings), "--format", "json", "--config", settings)
	if code != 0 || !strings.Contains(exported, "乌龙.txt") {
		t.Errorf("exit %d, want the attachment in\n%s\n%s", code, exported, stderr)
	}
	p.AwaitNone(t, leaveLimit)
}

// newest returns the id of the session that changed last.
func newest(t *testing.T, p gateway.Programs, home, settings string) string {
	t.Helper()
	out, stderr, _ := p.Run(t, home, "sessions", "list", "--json", "--config", settings)
	id := gjson.Get(out, "sessions.0.id").String()
	if id == "" {
		t.Fatalf("no session in %s\n%s", out, stderr)
	}
	return id
}

// TestPromptsAndResourcesAtATerminal uses a prompt and a resource of a server in messages, with completion. The model gets
// the texts of the server.
func TestPromptsAndResourcesAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "Greet Ada Lovelace in a formal style."}, Turns: []provider.Turn{{Say: "Dear Countess"}, {Say: "it says hello"}}},
	}}, gateway.Server{Name: "every"})
	home := t.TempDir()
	s := terminal.Run(t, terminal.Size{Columns: 100, Rows: 30}, p.Collie, "chat", "--home", home, "--config", settings)
	s.Shows("collie chat")
	s.Types("/every:gr")
	s.Shows("/every:greet  Greets somebody.")
	s.Types("\t")
	s.Types("st")
	s.Shows("style=")
	s.Types("\tformal\r")
	s.Shows("name is missing: /every:greet name=… [style=…]")
	s.Types(` "Ada Lovelace"` + "\r")
	s.Shows("Dear Countess", "tokens in")
	s.Types("what is @fake://sta")
	s.Shows("fake://static/hello  hello")
	s.Types("tic/hello and @fake://none ?\r")
	s.Shows("no server has the resource fake://none", "it says hello", "tokens in")
	s.Types("/every:other\r")
	s.Shows("no server has that prompt", "every:greet, every:plain")
	s.Types("\x15\x03\x03")
	s.Ends(0)
	exported, stderr, code := p.Run(t, home, "sessions", "export", newest(t, p, home, settings), "--format", "json", "--config", settings)
	if code != 0 || !strings.Contains(exported, "every:greet.md") || !strings.Contains(exported, `"hello"`) {
		t.Errorf("exit %d, want both attachments in\n%s\n%s", code, exported, stderr)
	}
	_, stderr, code = p.RunOn(t, home, strings.NewReader("/every:greet Ada\\ formal casual too\n"), "chat", "--config", settings)
	if code != 2 || !strings.Contains(stderr, "is too much") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestSteerAndQueueAtATerminal types during an answer: a message waits until the answer has ended, and the text of /steer
// reaches the model at its next step.
func TestSteerAndQueueAtATerminal(t *testing.T) {
	t.Parallel()
	slow := calls("fs", `{"action":"ls","path":"/"}`)
	slow.Say, slow.Chunk, slow.Pace = strings.Repeat("word ", 60), 5, provider.Duration(30*time.Millisecond)
	p, settings := world(t, answers(slow, provider.Turn{Say: "short it is"}, provider.Turn{Think: strings.Repeat("hm ", 60), Chunk: 5, Pace: provider.Duration(50 * time.Millisecond), Say: "that one waited"}))
	s := terminal.Run(t, terminal.Size{Columns: 100, Rows: 40}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.Shows("collie chat")
	s.Types("tell me all\r")
	s.Shows("word word")
	s.Types("then the next\r")
	s.Shows("it waits until the answer is finished")
	s.Types("/steer be short\r")
	s.Shows("fs ls", "path: /", "the model was told: be short", "short it is", "tokens in", "thought for", "that one waited", "tokens in")
	s.Types("/steer\r")
	s.Shows("expected a text for the model")
	s.Types("\x03\x03")
	s.Ends(0)
}
