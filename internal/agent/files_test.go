package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/agent"
	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// writeLibrary writes files, given as path, text, path, text, into dir and reads them as a person's own.
func writeLibrary(t *testing.T, dir string, pairs ...string) *library.Library {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		file := filepath.Join(dir, filepath.FromSlash(pairs[i]))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := library.Read(library.Places{Config: dir})
	if len(l.Problems) > 0 {
		t.Fatal(l.Problems)
	}
	return l
}

// An agent sees fewer tools, never more than the person chose, and answers as its file says.
func TestAgentsNarrow(t *testing.T) {
	t.Parallel()
	w := newFixture(t, answerText("ok"))
	w.files = writeLibrary(t, t.TempDir(),
		"agents/all.md", "---\ndescription: x\nmodel: other/large\nprofile: work\n---\nYou are the one for everything.",
		"agents/reader.md", "---\ndescription: x\ntools: files__read\nengine: react\n---\nYou read.")
	runAndListTools := func(cfg chat.Config) (out []string) {
		t.Helper()
		if _, err := w.runTurn(t.Context(), cfg, "go", nil); err != nil {
			t.Fatal(err)
		}
		for _, l := range w.model.seen[len(w.model.seen)-1].Tools {
			out = append(out, l.Name)
		}
		return out
	}
	if got := runAndListTools(chat.Config{Agent: "reader"}); !slices.Equal(got, []string{"files__read", "tool_output"}) {
		t.Errorf("the reader sees %v", got)
	}
	if system := w.model.seen[0].System; !strings.Contains(system, "\nYou read.\n") {
		t.Errorf("system prompt: %s", system)
	}
	for _, cfg := range []chat.Config{{Agent: "reader", Tools: []string{"files__write"}}, {Agent: "reader", Deny: []string{"files__read"}}} {
		if got := runAndListTools(cfg); len(got) > 0 {
			t.Errorf("%+v shows %v", cfg, got)
		}
	}
	for _, name := range []string{"nobody", "../agents/all"} {
		if _, _, err := w.agent.Engine(&chat.Config{Agent: name}, textParts("go")); tool.KindOf(err) != tool.NotFound {
			t.Errorf("agent %q: %v", name, err)
		}
	}
	for profile, want := range map[string]string{"": "work", "mine": "mine"} {
		c := chat.Config{Profile: profile, Provider: "p", Model: "m", Agent: "all"}
		agent.ApplyAgentDefaults(&c, w.files, "all")
		_, _, err := w.agent.Engine(&c, textParts("go"))
		if c.Profile != want || c.Model != "other/large" || c.Provider != "" || (err != nil) != (profile != "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The level of an agent cannot be exceeded, whatever the person answers.
func TestAgentsHaveALevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{"r": "read", "rw": "read write", "rwd": "read write delete", "": "read write delete"} {
		w := newFixture(t, answerCalls("files__read", "{}", "files__write", "{}", "files__delete", "{}"), answerText("done"))
		read := tooltest.Action("read")
		read.ReadOnly = true
		w.fake.Publish(tooltest.Offer("files", read, tooltest.Action("write"), tooltest.Action("delete")), tool.ToolsChanged)
		w.files = writeLibrary(t, t.TempDir(), "agents/a.md", "---\ndescription: x\nlevel: "+level+"\n---\n")
		if _, err := w.runTurn(t.Context(), chat.Config{Agent: "a", Allow: []string{"files.*"}}, "go", fixedPerson(`{"confirm":true}`)); err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, c := range w.fake.Calls() {
			made = append(made, c.Action.Name)
		}
		slices.Sort(made)
		if wanted := strings.Fields(want); !slices.Equal(made, slices.Sorted(slices.Values(wanted))) {
			t.Errorf("level %q: called %v, want %v", level, made, wanted)
		}
		for _, p := range w.results {
			if p.Name == "files__write" && p.IsError != (level == "r") || p.IsError && !strings.Contains(p.Text, "the agent a ") {
				t.Errorf("level %q: %+v", level, p)
			}
		}
	}
}

// Skills are named in the prompt and read when they are needed.
func TestSkillsAreReadOnDemand(t *testing.T) {
	t.Parallel()
	w := newFixture(t, answerCalls("read_skill", `{"name":"pdf"}`, "read_skill", `{"name":"pdf","file":"../../agents/a.md"}`), answerText("done"))
	w.files = writeLibrary(t, t.TempDir(), "agents/a.md", "---\ndescription: x\n---\n", "skills/pdf/SKILL.md", "---\ndescription: Reads PDF files\n---\nCall the reader.")
	if _, err := w.runTurn(t.Context(), chat.Config{}, "go", nil); err != nil {
		t.Fatal(err)
	}
	if system := w.model.seen[0].System; !strings.Contains(system, "- pdf: Reads PDF files") || strings.Contains(system, "Call the reader") {
		t.Errorf("system prompt: %s", system)
	}
	for _, p := range w.results { // the results of both reads, which may end in any order
		if p.IsError == (p.Text == "Call the reader.") {
			t.Errorf("result %+v", p)
		}
	}
	if w.results[0].IsError == w.results[1].IsError {
		t.Errorf("both results are alike: %+v", w.results)
	}
	if _, err := w.runTurn(t.Context(), chat.Config{Engine: "chat"}, "go", nil); err != nil || strings.Contains(w.model.seen[2].System, "pdf") {
		t.Errorf("without tools: %v, %s", err, w.model.seen[2].System)
	}
}

// The text of a matching context entry precedes the message in every step, and a notice names the entry and the
// keyword. A changed file takes effect in the next turn.
func TestContextEntriesAreRecalled(t *testing.T) {
	t.Parallel()
	w := newFixture(t, answerCalls("files__read", "{}"), answerText("done"))
	dir := t.TempDir()
	w.files = writeLibrary(t, dir,
		"context/tea.md", "---\nkeywords: [oolong]\n---\nTea is in the kitchen.",
		"context/big.md", "---\nkeywords: [oolong]\nbudget: 16000\norder: 5\n---\n"+strings.Repeat("word ", 20000),
		"context/long.md", "---\nkeywords: [oolong]\nbudget: 10\norder: 6\n---\n"+strings.Repeat("很长", 2000))
	if _, err := w.runTurn(t.Context(), chat.Config{}, "where is the Oolong?", nil); err != nil {
		t.Fatal(err)
	}
	for step, r := range w.model.seen {
		parts := r.Messages[0].Parts
		if len(parts) != 2 || !strings.Contains(parts[0].Text, "Tea is in the kitchen.") || len(parts[0].Text) > 200 || parts[1].Text != "where is the Oolong?" {
			t.Errorf("step %d: %+v", step, parts)
		}
	}
	if len(w.noticeTexts) != 2 || !strings.Contains(w.noticeTexts[0], `tea.md; "oolong" in the last message`) || !strings.Contains(w.noticeTexts[1], "big.md") || !slices.Equal(w.noticeCodes, []string{"context", "context_full"}) {
		t.Errorf("%v: %q", w.noticeCodes, w.noticeTexts)
	}
	w.files = writeLibrary(t, dir, "context/tea.md", "---\nkeywords: [pu-erh]\n---\nGone.")
	if _, err := w.runTurn(t.Context(), chat.Config{}, "the pu-erh", nil); err != nil {
		t.Fatal(err)
	}
	if got := w.model.seen[len(w.model.seen)-1].Messages[0].Parts[0].Text; !strings.Contains(got, "Gone.") {
		t.Errorf("after the change: %q", got)
	}
}

// newNotesFixture returns a fixture with a source of notes that has rules and a memory.
func newNotesFixture(t *testing.T, answers ...func(*llm.Request) []llm.Event) (w *fixture, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	read, write, replace := tooltest.Action("read", `"properties":{"path":{"type":"string"}}`), tooltest.Action("write"), tooltest.Action("replace")
	read.ReadOnly = true
	fake := tooltest.NewFake("siyuan", tooltest.Offer("fs", read, write, replace))
	fake.On("read", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		text := files[gjson.GetBytes(c.Args, "path").String()]
		raw, err := json.Marshal(map[string]any{"content": text, "totalBlocks": strings.Count(text, "\n\n") + min(len(text), 1)})
		return tooltest.Text(string(raw)), err
	})
	fake.On("write", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		files[gjson.GetBytes(c.Args, "path").String()] = gjson.GetBytes(c.Args, "markdown").String()
		return tooltest.Text("{}"), nil
	})
	fake.On("replace", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		path, from, to := gjson.GetBytes(c.Args, "path").String(), gjson.GetBytes(c.Args, "edit.old").String(), gjson.GetBytes(c.Args, "edit.new").String()
		if n := strings.Count(files[path], from); n != 1 {
			return tooltest.Failed(fmt.Sprintf("%q is there %d times", from, n)), nil
		}
		files[path] = strings.Replace(files[path], from, to, 1)
		return tooltest.Text("{}"), nil
	})
	return newFixtureWith(t, fake, answers...), files
}

// Rules and memory from the notes are in the prompt. They are read by ordinary calls.
func TestModelsAreToldRulesAndMemory(t *testing.T) {
	t.Parallel()
	w, files := newNotesFixture(t, answerText("ok"))
	files["/USER_RULES.md"], files["/AGENTS.md"] = "Never say never.", "The cat is called Tom."
	if _, err := w.runTurn(t.Context(), chat.Config{}, "go", nil); err != nil {
		t.Fatal(err)
	}
	system := w.model.seen[0].System
	if rules, memory := strings.Index(system, "Never say never."), strings.Index(system, "The cat is called Tom."); rules < 0 || memory < rules {
		t.Errorf("system prompt: %s", system)
	}
	for _, c := range w.fake.Calls() {
		if c.Origin != tool.Chat || c.Parent == "" {
			t.Errorf("read as %s, part of %q", c.Origin, c.Parent)
		}
	}
	files["/AGENTS.md"] = strings.Repeat("long ", 100_000)
	if _, err := w.runTurn(t.Context(), chat.Config{}, "go", nil); err != nil || len(w.model.seen[1].System) > 64<<10 {
		t.Errorf("a long memory: %v, %d bytes", err, len(w.model.seen[1].System))
	}
}

// /remember adds to the memory. If a person typed it, nobody is asked; otherwise a person is.
func TestRemember(t *testing.T) {
	t.Parallel()
	w, files := newNotesFixture(t, nil)
	remember := func(text string, by bool, ask chat.Asker) error {
		_, engine, err := w.agent.Engine(&chat.Config{}, textParts(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.Run(t.Context(), &chat.Turn{ID: "t", Session: "s", Person: by, Ask: ask, Question: textParts(text)}, w)
		return err
	}
	for _, text := range []string{"it's \"tea\"", "milk", "milk", "two\nlines"} {
		if err := remember("/remember "+text, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	const want = "- it's \"tea\"\n- milk\n- milk\n- two\n  lines"
	if got := files["/AGENTS.md"]; got != want {
		t.Errorf("the memory is %q, want %q", got, want)
	}
	for _, c := range w.fake.Calls() {
		if c.Origin != tool.Direct {
			t.Errorf("%s has origin %s", c.Name, c.Origin)
		}
	}
	if err := remember("/remember more", false, nil); tool.KindOf(err) != tool.Unconfirmed || files["/AGENTS.md"] != want {
		t.Errorf("with nobody there: %v, %q", err, files["/AGENTS.md"])
	}
	if err := remember("/remember more", false, fixedPerson(`{"confirm":true}`)); err != nil || files["/AGENTS.md"] != want+"\n- more" {
		t.Errorf("with a person who agrees: %v, %q", err, files["/AGENTS.md"])
	}
	plain := newFixture(t, nil)
	_, engine, err := plain.agent.Engine(&chat.Config{}, textParts("/remember x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(t.Context(), &chat.Turn{Question: textParts("/remember x")}, plain); tool.KindOf(err) != tool.NotFound {
		t.Errorf("without notes: %v", err)
	}
}
