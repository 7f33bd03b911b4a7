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
	p, settings := world(t, answers(
		calls("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/`+strings.Repeat("很长的名字 ", 60)+`"}`),
		calls("fs", `{"action":"write","path":"/Welcome/Plan","markdown":"# Plan\n\n- one\n  risk: none"}`),
		calls("fs", `{"action":"replace","path":"/Welcome/Plan","edit":{"old":"- one","new":"- 二\n- two"}}`), provider.Turn{Say: "replaced"},
	))
	s := terminal.Run(t, terminal.Size{Columns: 60, Rows: 12}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.Shows("collie chat")
	s.Types("move it\r")
	s.Shows("fs mv", "effect: ", "risk: high", "targets:", "arguments:", "Run it?")
	s.Types("\x03")
	s.Shows("taken back", "stopped")
	s.Types("write it\r")
	s.Shows("> write it", "markdown:", "      | # Plan", "      |   risk: none", "      - - one", "      + - 二", "      + - two", "replaced", "tokens in")
	s.Types("\x03\x03")
	s.Ends(0)
}

// TestCtrlCLineByLineAtATerminal presses Ctrl-C in `collie chat --plain`: during an answer it ends the answer, otherwise
// the program.
func TestCtrlCLineByLineAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, answers(provider.Turn{Say: strings.Repeat("word ", 400), Chunk: 5, Pace: provider.Duration(30 * time.Millisecond)}, provider.Turn{Say: "and then"}))
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--plain", "--home", t.TempDir(), "--config", settings)
	s.Shows("> ")
	s.Types("tell me\n")
	s.Shows("word word")
	s.Types("\x03")
	s.Shows("stopped", "\r\n> ")
	s.Types("go on\n")
	s.Shows("and then", "\r\n> ")
	s.Types("\x03")
	s.Ends(0)
}

// TestFormAtATerminal fills in a form that a server asks for during a call, and cancels another one. Both take the place
// of the line in which messages are typed, and give it back afterwards.
func TestFormAtATerminal(t *testing.T) {
	t.Parallel()
	ask := calls("ask", `{"what":"elicitation"}`)
	p, settings := world(t, answers(ask, provider.Turn{Say: "got $RESULTS"}, ask, provider.Turn{Say: "then $RESULTS"}), gateway.Server{Name: "side"})
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.Shows("collie chat")
	s.Types("form\r")
	s.Shows("Run it?")
	s.Types("y")
	s.Shows("Answer?")
	s.Types("\r")
	s.Shows("name")
	s.Types("Ann 安\r")
	s.Shows("got ", "Ann 安", "tokens in")
	s.Types("again\r")
	s.Shows("Run it?")
	s.Types("y")
	s.Shows("Answer?")
	s.Types("\x1b")
	s.Shows("then ", "cancel", "tokens in")
	s.Types("keys are mine")
	s.Shows("keys are mine")
	s.Types("\x03\x03")
	s.Ends(0)
}

// TestChoicesAtATerminal uses the menus and the history of `collie chat`: it chooses a model and a conversation, finds a
// file by a part of its path, goes through earlier messages, undoes an edit of the line, copies an answer, shows a call in
// full, and exports the conversation.
func TestChoicesAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, provider.Script{Models: []string{"m", "other"}, Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "look"}, Turns: []provider.Turn{calls("notebook", `{"action":"list"}`), {Say: "**乌龙**"}, {Say: "third"}}},
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
	s.Shows("collie chat", "fake/m") // only what changes is drawn: the rule before it may have been there
	s.Types("first of all\r")
	s.Shows("oolong", "tokens in", " of ", "%)")
	s.Types("\x15/new\r")
	s.Shows("a new conversation")
	s.Types("/model ")
	s.Shows("fake/other")
	s.Types("oth\x1b[B\r")
	s.Shows("model: fake/other")
	s.Types("look\r")
	s.Shows("乌龙", "tokens in")
	s.Types("/call\r")
	s.Shows("notebook list", "Welcome")
	s.Types("/copy\r")
	s.Shows("\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("**乌龙**")), "handed to the terminal")
	s.Types("/export tea.md\r")
	s.Shows("written to tea.md")
	if text, err := os.ReadFile(filepath.Join(dir, "tea.md")); err != nil || !strings.Contains(string(text), "**乌龙**") {
		t.Errorf("%v: %s", err, text)
	}
	s.Types("/export tea.md\r")
	s.Shows("already exists")
	s.Types("\x15and @乌龙")
	s.Shows("my 乌龙.txt")
	s.Types("\t\r")
	s.Shows(`> and @"deep/深/my 乌龙.txt"`, "third", "tokens in")
	s.Types("/session ")
	s.Shows("1  look", "2  first of all")
	s.Types("first\x1b[B\r")
	s.Shows("> first of all", "oolong")
	s.Types(strings.Repeat("\x1b[A", 5) + "\x1b[B\r") // up to /call in the history, and down to /copy
	s.Shows("\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("oolong")), "handed to the terminal")
	s.Types("half a line\x17\x1f\r")
	s.Shows("> half a line", "second", "tokens in")
	s.Types("\x03\x03")
	s.Ends(0)

	s = chat()                       // the history includes messages of earlier conversations
	s.Shows("collie chat", "fake/m") // only what changes is drawn: the rule before it may have been there
	s.Types("\x1b[A")
	s.Shows("half a line")
	s.Types("\x1b[A\r")
	s.Shows("> first of all", "oolong")
	s.Types("\x03\x03")
	s.Ends(0)
}

// TestNoTwoConversationsAtOnceAtATerminal checks that no other conversation can be started while an answer is written, and
// that pressing Esc twice ends the answer.
func TestNoTwoConversationsAtOnceAtATerminal(t *testing.T) {
	t.Parallel()
	p, settings := world(t, answers(provider.Turn{Say: strings.Repeat("word ", 400), Chunk: 5, Pace: provider.Duration(30 * time.Millisecond)}))
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.Shows("collie chat")
	s.Types("tell me\r")
	s.Shows("word word")
	s.Types("/new\r")
	s.Shows("an answer is being written")
	s.Types("\x15")
	s.Types("\x1b")
	s.Shows("Esc again ends the answer")
	s.Types("\x1b")
	s.Shows("stopped")
	s.Types("/new\r")
	s.Shows("a new conversation")
	s.Types("\x03\x03")
	s.Ends(0)
}
