package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

const (
	// skillTool is a tool of our own: it reads a skill.
	skillTool = "read_skill"

	heardMessages = 4    // in which keywords of context entries are looked for
	maxContext    = 4000 // tokens of all entries together
	maxStanding   = 8000 // tokens of the rules, and of the memory, in the notes

	notesWait = 3 * time.Second // for rules and memory; an answer is not kept waiting by notes that are away
)

// The files of the notes that models are told: a person's rules, and what is to be remembered.
const (
	rulesNote  = "/USER_RULES.md"
	memoryNote = "/AGENTS.md"
)

// files are what a person wrote for agents, as a turn takes them.
type files struct {
	library       *library.Library
	agent         library.Agent // the zero value for a turn without one
	rules, memory string        // of the notes
	context       string        // of the entries that were recalled
}

// Default changes c, the settings of a person, as far as the agent called name asks: for another engine or model, and for a
// profile where the settings name none. An agent that there is not changes nothing; [Agent.Engine] refuses it.
func Default(c *chat.Config, l *library.Library, name string) {
	a, err := l.Agent(name)
	if err != nil {
		return
	}
	if a.Engine != "" {
		c.Engine = a.Engine
	}
	if a.Model != "" {
		c.Provider, c.Model = "", a.Model
	}
	if c.Profile == "" {
		c.Profile = a.Profile
	}
}

// named is the agent of a turn, the zero value where it has none. One that would show another profile than the person's is
// refused: which of two profiles shows less, nobody can say.
func named(l *library.Library, c *chat.Config) (library.Agent, error) {
	if c.Agent == "" {
		return library.Agent{}, nil
	}
	a, err := l.Agent(c.Agent)
	if err != nil {
		return library.Agent{}, err
	}
	if a.Profile != "" && a.Profile != c.Profile {
		return *a, &tool.Error{
			Op: "turn", Kind: tool.Denied, Subject: a.Name, Message: fmt.Sprintf("the agent is for profile %s, and the turn has profile %s", a.Profile, c.Profile),
			Hint: "use one of them: an agent does not change the profile that was chosen",
		}
	}
	return *a, nil
}

func (a *Agent) files(c *chat.Config) (f files, err error) {
	f.library = a.opts.Library()
	f.agent, err = named(f.library, c)
	return f, err
}

// permit refuses a call that is more than the agent may do.
func (f *files) permit(c *tool.Call) error {
	if f.agent.Level == "" || f.agent.Level == "rwd" || c.Kind != tool.KindCall && !c.HasEffects() {
		return nil
	}
	risk := tool.RiskUnknown
	if c.Action != nil {
		risk, _ = c.Action.Rated()
	}
	message, may := "the agent %s only reads (level r)", []tool.Risk{tool.RiskNone}
	if f.agent.Level == "rw" {
		message, may = "the agent %s does not delete, run or send anything (level rw)", append(may, tool.RiskLow, tool.RiskMedium)
	}
	if slices.Contains(may, risk) && (f.agent.Level != "r" || !c.HasEffects()) {
		return nil
	}
	e := &tool.Error{Op: "call", Kind: tool.Denied, Subject: c.Name, Hint: "say what would be needed; only the person can use another agent"}
	e.Message = fmt.Sprintf(message, f.agent.Name)
	return e
}

// skill answers read_skill.
func (f *files) skill(args json.RawMessage) (tool.Result, error) {
	in := gjson.ParseBytes(args)
	s, err := f.library.Skill(in.Get("name").String())
	if err != nil {
		return tool.Result{}, err
	}
	text, err := s.Read(in.Get("file").String())
	if err != nil {
		return tool.Result{}, err
	}
	raw, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}})
	return tool.Result{Raw: raw}, err
}

// write adds to a system prompt what stands in files. Skills need a tool to be read.
func (f *files) write(b *strings.Builder, tools bool) {
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(b, "\n# %s\n\n%s\n", title, text)
		}
	}
	section("Rules of the person, which come before all advice", f.rules)
	section("Your memory, "+memoryNote+" in the notes", f.memory)
	section("Rules of this project, "+filepath.Base(f.library.RulesFile), f.library.Rules)
	if tools && len(f.library.Skills) > 0 {
		var list strings.Builder
		for i := range f.library.Skills {
			fmt.Fprintf(&list, "- %s: %s\n", f.library.Skills[i].Name, f.library.Skills[i].Description)
		}
		section("Skills, which "+skillTool+" reads", strings.TrimSpace(list.String()))
	}
	if f.agent.Prompt != "" {
		b.WriteString("\n" + f.agent.Prompt + "\n")
	}
}

// standing reads the rules and the memory in the notes, if there are notes and they may be read. The calls
// are on record as those of the turn are.
func (r *run) standing(ctx context.Context) {
	if r.turn.Config.Engine == engineChat {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notesWait)
	defer cancel()
	for _, n := range []struct {
		note string
		text *string
	}{{rulesNote, &r.files.rules}, {memoryNote, &r.files.memory}} {
		w, err := r.readNote(ctx, n.note, 0)
		if err != nil {
			if tool.KindOf(err) != tool.NotFound { // there are no notes here
				r.agent.opts.Logger.Debug("a note for agents was not read", "note", n.note, "error", err)
			}
			return
		}
		*n.text = head(w.Get("content").String(), maxStanding)
	}
}

// readNote reads a note from a block on, through the pipeline like any other call. Without notes the error is of kind
// NotFound.
func (r *run) readNote(ctx context.Context, note string, block int) (window gjson.Result, err error) {
	args, err := json.Marshal(map[string]any{"path": note, "blockStart": block, "blockLimit": 200, "tokenBudget": 32000})
	if err != nil {
		return window, err
	}
	request := r.request(&call{name: "fs/read", args: args})
	request.Profile = r.turn.Config.Profile
	resolved, err := r.agent.opts.Pipeline.Resolve(ctx, request)
	if err != nil || resolved.Source == nil || resolved.Source.Name() != notesSource {
		return window, &tool.Error{Op: "read", Kind: tool.NotFound, Subject: note, Message: "there are no notes here", Hint: "collie siyuan connection, or collie vault, sets notes up"}
	}
	result, err := r.agent.opts.Pipeline.Do(ctx, request)
	if err != nil {
		return window, err
	}
	text, _ := resultText(result.Raw, false)
	if result.IsError {
		return window, &tool.Error{Op: "read", Kind: tool.Unavailable, Subject: note, Message: text}
	}
	return gjson.Parse(text), nil
}

// notesSource is the name of the source of notes.
const notesSource = "siyuan"

// recall looks which context entries the last messages call for, and says so in the turn.
func (r *run) recall() {
	var heard []string
	for _, m := range r.turn.Path[max(0, len(r.turn.Path)-heardMessages):] {
		var text strings.Builder
		for _, p := range m.Parts {
			if p.Kind == llm.PartText {
				text.WriteString(p.Text + "\n")
			}
		}
		heard = append(heard, text.String())
	}
	var b strings.Builder
	var taken, left []string
	room := maxContext
	for _, m := range r.files.library.Matching(r.files.agent.Name, heard) {
		where := "the last message"
		if m.Back > 0 {
			where = fmt.Sprintf("message %d from the end", m.Back+1)
		}
		place := fmt.Sprintf("%s (%s; %q in %s)", m.Name, m.File, m.Keyword, where)
		text := head(m.Text, m.Budget)
		if n := tokens(text); n > room {
			left = append(left, place)
			continue
		} else {
			room -= n
		}
		taken = append(taken, place)
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", m.Name, text)
	}
	if len(taken) > 0 {
		r.files.context = "What the person has written down about this:\n\n" + strings.TrimSpace(b.String())
		r.sink.Notice("context", fmt.Sprintf("context entries before this message: %s", strings.Join(taken, ", ")))
	}
	if len(left) > 0 {
		r.sink.Notice("context_full", fmt.Sprintf("context entries left out, since all together have %d tokens at most: %s", maxContext, strings.Join(left, ", ")))
	}
}

// recalled is a conversation with the context entries in front of what is answered. They stand there, and not in the system
// prompt, so that what providers keep of the conversation before stays good.
func (r *run) recalled(before []llm.Message) []llm.Message {
	last := len(before) - 1
	if r.files.context == "" || last < 0 || before[last].Role != llm.RoleUser {
		return before
	}
	out := slices.Clone(before)
	out[last].Parts = slices.Concat([]llm.Part{{Kind: llm.PartText, Text: r.files.context}}, out[last].Parts)
	return out
}

// head is text up to about n tokens.
func head(text string, n int) string {
	text = strings.TrimSpace(text)
	ascii, other := 0, 0
	for i, c := range text {
		if c < 0x80 {
			ascii++
		} else {
			other++
		}
		if ascii/4+other*2/3 > n {
			return text[:i] + "…"
		}
	}
	return text
}

// remember adds text to the memory in the notes. It is a person's own deed where they typed it; else a person is asked, as
// before any change.
func (a *Agent) remember(ctx context.Context, t *chat.Turn, s chat.Sink, text string) error {
	ctx, watch, stop := withLimit(ctx, time.Duration(t.Config.MaxTurnSeconds)*time.Second)
	defer stop()
	r := &run{agent: a, turn: t, sink: s, watch: watch, typed: t.Person, set: toolset{profile: t.Config.Profile, tools: []llm.Tool{{Name: "fs/write"}, {Name: "fs/replace"}}}}
	item := "- " + strings.ReplaceAll(text, "\n", "\n  ")
	name, args := "fs/write", map[string]any{"path": memoryNote, "markdown": item}
	w, err := r.readNote(ctx, memoryNote, 0)
	if total := w.Get("totalBlocks").Int(); err == nil && total > 0 {
		if w.Get("nextWindow").Exists() {
			w, err = r.readNote(ctx, memoryNote, int(total)-1)
		}
		// An edit of the end loses nothing that is written meanwhile, as writing the whole would.
		end := tail(w.Get("content").String())
		name, args = "fs/replace", map[string]any{"path": memoryNote, "edit": map[string]any{"old": end, "new": end + "\n" + item}}
	}
	if err != nil {
		return err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return r.command(ctx, name, raw, func(string) string { return "Remembered: " + text })
}

// tail is the end of text from the beginning of a line on, as short as it can be to stand there once.
func tail(text string) string {
	text = strings.TrimRight(text, "\n")
	for at := len(text); at > 0; {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			break
		}
		if end := text[at+1:]; strings.TrimSpace(end) != "" && strings.Count(text, end) == 1 {
			return end
		}
	}
	return text
}
