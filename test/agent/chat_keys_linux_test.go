package agent_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/test/fakellm/provider"
	"collie/test/gateway"
	"collie/test/terminal"
)

// TestQuestionsAtATerminal checks how `collie chat` asks whether a call may run: a long question is shown in full, each
// line of a text in it is marked, and a question that was withdrawn takes no more keys.
func TestQuestionsAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := newPrograms(t, scriptOf(
		callTurn("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/`+strings.Repeat("很长的名字 ", 60)+`"}`),
		callTurn("fs", `{"action":"write","path":"/Welcome/Plan","markdown":"# Plan\n\n- one\n  risk: none"}`),
		callTurn("fs", `{"action":"replace","path":"/Welcome/Plan","edit":{"old":"- one","new":"- 二\n- two"}}`), provider.Turn{Say: "replaced"},
	))
	s := terminal.Run(t, terminal.Size{Columns: 60, Rows: 12}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("collie chat")
	s.Type("move it\r")
	s.WaitFor("fs mv", "effect: ", "risk: high", "targets:", "arguments:", "Run it?")
	s.Type("\x03")
	s.WaitFor("taken back", "stopped")
	s.Type("write it\r")
	s.WaitFor("> write it", "markdown:", "      | # Plan", "      |   risk: none", "      - - one", "      + - 二", "      + - two", "replaced", "tokens in")
	s.Type("\x03\x03")
	s.WaitForExit(0)
}

// TestCtrlCLineByLineAtATerminal presses Ctrl-C in `collie chat --plain`: during an answer it ends the answer, otherwise
// the program.
func TestCtrlCLineByLineAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: strings.Repeat("word ", 400), Chunk: 5, Pace: provider.Duration(30 * time.Millisecond)}, provider.Turn{Say: "and then"}))
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--plain", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("> ")
	s.Type("tell me\n")
	s.WaitFor("word word")
	s.Type("\x03")
	s.WaitFor("stopped", "\r\n> ")
	s.Type("go on\n")
	s.WaitFor("and then", "\r\n> ")
	s.Type("\x03")
	s.WaitForExit(0)
}

// TestFormAtATerminal fills in a form that a server asks for during a call, and cancels another one. Both take the place
// of the line in which messages are typed, and give it back afterwards.
func TestFormAtATerminal(t *testing.T) {
	t.Parallel()
	ask := callTurn("ask", `{"what":"elicitation"}`)
	p, settings := newPrograms(t, scriptOf(ask, provider.Turn{Say: "got $RESULTS"}, ask, provider.Turn{Say: "then $RESULTS"}), gateway.Server{Name: "side"})
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("collie chat")
	s.Type("form\r")
	s.WaitFor("Run it?")
	s.Type("y")
	s.WaitFor("Answer?")
	s.Type("\r")
	s.WaitFor("name")
	s.Type("Ann 安\r")
	s.WaitFor("got ", "Ann 安", "tokens in")
	s.Type("again\r")
	s.WaitFor("Run it?")
	s.Type("y")
	s.WaitFor("Answer?")
	s.Type("\x1b")
	s.WaitFor("then ", "cancel", "tokens in")
	s.Type("keys are mine")
	s.WaitFor("keys are mine")
	s.Type("\x03\x03")
	s.WaitForExit(0)
}

// TestChoicesAtATerminal uses the menus and the history of `collie chat`: it chooses a model and a conversation, finds a
// file by a part of its path, goes through earlier messages, undoes an edit of the line, copies an answer, shows a call in
// full, and exports the conversation.
func TestChoicesAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := newPrograms(t, provider.Script{Models: []string{"m", "other"}, Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "look"}, Turns: []provider.Turn{callTurn("notebook", `{"action":"list"}`), {Say: "**乌龙**"}, {Say: "third"}}},
		{Turns: []provider.Turn{{Say: "oolong"}, {Say: "second"}}},
	}})
	home, dir := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "deep", "深"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "deep", "深", "my 乌龙.txt"), []byte("steep it"), 0o600); err != nil {
		t.Fatal(err)
	}
	chat := func(args ...string) *terminal.Screen {
		return terminal.Run(t, terminal.Size{Columns: 100, Rows: 30}, "env", append([]string{"-C", dir, p.Collie, "chat", "--home", home, "--config", settings}, args...)...)
	}
	s := chat()
	s.WaitFor("collie chat", "fake/m") // only what changes is drawn: the rule before it may have been there
	s.Type("first of all\r")
	s.WaitFor("oolong", "tokens in", " of ", "%)")
	s.Type("\x15/new\r")
	s.WaitFor("a new conversation")
	s.Type("/model ")
	s.WaitFor("fake/other")
	s.Type("oth\x1b[B\r")
	s.WaitFor("model: fake/other")
	s.Type("look\r")
	s.WaitFor("乌龙", "tokens in")
	s.Type("/call\r")
	s.WaitFor("notebook list", "Welcome")
	s.Type("/copy\r")
	s.WaitFor("\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("**乌龙**")), "handed to the terminal")
	s.Type("/export tea.md\r")
	s.WaitFor("written to tea.md")
	if text, err := os.ReadFile(filepath.Join(dir, "tea.md")); err != nil || !strings.Contains(string(text), "**乌龙**") {
		t.Errorf("%v: %s", err, text)
	}
	s.Type("/export tea.md\r")
	s.WaitFor("already exists")
	s.Type("\x15and @乌龙")
	s.WaitFor("my 乌龙.txt")
	s.Type("\t\r")
	s.WaitFor(`> and @"deep/深/my 乌龙.txt"`, "third", "tokens in")
	s.Type("/session ")
	s.WaitFor("1  look", "2  first of all")
	s.Type("first\x1b[B\r")
	s.WaitFor("> first of all", "oolong")
	s.Type(strings.Repeat("\x1b[A", 5) + "\x1b[B\r") // up to /call in the history, and down to /copy
	s.WaitFor("\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("oolong")), "handed to the terminal")
	s.Type("half a line\x17\x1f\r")
	s.WaitFor("> half a line", "second", "tokens in")
	s.Type("\x03\x03")
	s.WaitForExit(0)

	s = chat()                         // the history includes messages of earlier conversations
	s.WaitFor("collie chat", "fake/m") // only what changes is drawn: the rule before it may have been there
	s.Type("\x1b[A")
	s.WaitFor("half a line")
	s.Type("\x1b[A\r")
	s.WaitFor("> first of all", "oolong")
	s.Type("\x03\x03")
	s.WaitForExit(0)
}

// TestNoTwoConversationsAtOnceAtATerminal checks that no other conversation can be started while an answer is written, and
// that pressing Esc twice ends the answer.
func TestNoTwoConversationsAtOnceAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: strings.Repeat("word ", 400), Chunk: 5, Pace: provider.Duration(30 * time.Millisecond)}))
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("collie chat")
	s.Type("tell me\r")
	s.WaitFor("word word")
	s.Type("/new\r")
	s.WaitFor("an answer is being written")
	s.Type("\x15")
	s.Type("\x1b")
	s.WaitFor("Esc again ends the answer")
	s.Type("\x1b")
	s.WaitFor("stopped")
	s.Type("/new\r")
	s.WaitFor("a new conversation")
	s.Type("\x03\x03")
	s.WaitForExit(0)
}
