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
	p, settings := newPrograms(t, scriptOf())
	home := t.TempDir()
	var took []time.Duration
	for range 11 {
		begun := time.Now()
		s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", home, "--config", settings)
		s.WaitFor("collie chat")
		took = append(took, time.Since(begun))
		s.Type("\x03\x03")
		s.WaitForExit(0)
	}
	slices.Sort(took)
	await.Within(t, "the first screen, median", took[len(took)/2], 5*150*time.Millisecond)
}

// TestChatAtATerminal uses `collie chat` as a person does: it gets an answer, confirms a call, and finds an unsent draft
// again after a restart.
func TestChatAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := newPrograms(t, scriptOf(
		provider.Turn{Say: "# 茶\n\n乌龙 **at** four"},
		callTurn("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "it is there"},
		provider.Turn{Say: "it is said"},
	))
	home := t.TempDir()
	chat := func(size terminal.Size, args ...string) *terminal.Screen {
		return terminal.Run(t, size, p.Collie, append([]string{"chat", "--home", home, "--config", settings}, args...)...)
	}
	s := chat(terminal.Size{Columns: 80, Rows: 24})
	s.WaitFor("collie chat")
	s.Type("你好\r") // most likely before the conversation is open
	s.WaitFor("乌龙", "tokens in")
	s.Type("rename it\r")
	s.WaitFor("Run it?")
	s.Resize(terminal.Size{Columns: 40, Rows: 12})
	s.Type("y")
	s.WaitFor("it is there", "tokens in")
	s.Type("half typed")
	s.Type("\x03")
	s.WaitFor("again leaves")
	s.Type("\x03")
	s.WaitForExit(0)

	s = chat(terminal.Size{Columns: 200, Rows: 60}, "--continue")
	s.WaitFor("half typed")
	s.Type("\x04\x03\x03")
	s.WaitForExit(0)

	s = chat(terminal.Size{Columns: 80, Rows: 24}, "--continue", "and again")
	s.WaitFor("it is said", "tokens in", "half typed") // what was being typed waits for its turn
	s.Type("\x03\x03")
	s.WaitForExit(0)

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
	move := callTurn("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)
	p, settings := newPrograms(t, provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "move it"}, Turns: []provider.Turn{move, {Say: "it is there"}, {Say: "I read the file"}}},
		{Turns: []provider.Turn{{Say: "oolong"}}},
	}})
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "乌龙.txt"), []byte("steep it for three minutes"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", home, "--config", settings)
	s.WaitFor("collie chat")
	s.Type("茶 or coffee?\r")
	s.WaitFor("oolong", "tokens in")
	s.Type("/aga")
	s.WaitFor("answered once more")
	s.Type("\t\r")
	s.WaitFor("oolong", "tokens in")
	s.Type("/branches\r")
	s.WaitFor("1  2/2  answer")
	s.Type("/branch 1\r")
	s.WaitFor("branch 1/2", "oolong")
	s.Type("/edit\r")
	s.WaitFor("in place of an earlier message")
	s.Type(" then move it\r")
	s.WaitFor("茶 or coffee? then move it", "Run it?")
	s.Type("n")
	s.WaitFor("it is there", "tokens in")
	s.Type("/branches\r")
	s.WaitFor("1  2/2  you")
	s.Type("/branch 9 9\r")
	s.WaitFor("which one?")
	s.Type("\x15/again")
	s.WaitFor("answered once more") // so that the question is drawn again
	s.Type("\r")
	s.WaitFor("Run it?")
	s.Type("y")
	s.WaitFor("it is there", "tokens in")
	s.Type("read @" + dir + "/乌")
	s.Type("\t")
	s.WaitFor("乌龙.txt")
	s.Type("and @nothing.txt\r")
	s.WaitFor("there is no file nothing.txt", "I read the file", "tokens in")
	s.Type("/new\r")
	s.WaitFor("a new conversation")
	s.Type("\x03\x03")
	s.WaitForExit(0)

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
	p, settings := newPrograms(t, provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "Greet Ada Lovelace in a formal style."}, Turns: []provider.Turn{{Say: "Dear Countess"}, {Say: "it says hello"}}},
	}}, gateway.Server{Name: "every"})
	home := t.TempDir()
	s := terminal.Run(t, terminal.Size{Columns: 100, Rows: 30}, p.Collie, "chat", "--home", home, "--config", settings)
	s.WaitFor("collie chat")
	s.Type("/every:gr")
	s.WaitFor("/every:greet  Greets somebody.")
	s.Type("\t")
	s.Type("st")
	s.WaitFor("style=")
	s.Type("\tformal\r")
	s.WaitFor("name is missing: /every:greet name=… [style=…]")
	s.Type(` "Ada Lovelace"` + "\r")
	s.WaitFor("Dear Countess", "tokens in")
	s.Type("what is @fake://sta")
	s.WaitFor("fake://static/hello  hello")
	s.Type("tic/hello and @fake://none ?\r")
	s.WaitFor("no server has the resource fake://none", "it says hello", "tokens in")
	s.Type("/every:other\r")
	s.WaitFor("no server has that prompt", "every:greet, every:plain")
	s.Type("\x15\x03\x03")
	s.WaitForExit(0)
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
	slow := callTurn("fs", `{"action":"ls","path":"/"}`)
	slow.Say, slow.Chunk, slow.Pace = strings.Repeat("word ", 60), 5, provider.Duration(30*time.Millisecond)
	p, settings := newPrograms(t, scriptOf(slow, provider.Turn{Say: "short it is"}, provider.Turn{Think: strings.Repeat("hm ", 60), Chunk: 5, Pace: provider.Duration(50 * time.Millisecond), Say: "that one waited"}))
	s := terminal.Run(t, terminal.Size{Columns: 100, Rows: 40}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("collie chat")
	s.Type("tell me all\r")
	s.WaitFor("word word")
	s.Type("then the next\r")
	s.WaitFor("it waits until the answer is finished")
	s.Type("/steer be short\r")
	s.WaitFor("fs ls", "path: /", "the model was told: be short", "short it is", "tokens in", "thought for", "that one waited", "tokens in")
	s.Type("/steer\r")
	s.WaitFor("expected a text for the model")
	s.Type("\x03\x03")
	s.WaitForExit(0)
}
