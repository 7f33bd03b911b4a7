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

// This file collects the texts that a turn adds to the system prompt: the named agent, skills, context entries, rules
// and memory.

const (
	// skillTool is the name of a built-in tool, which reads a skill.
	skillTool = "read_skill"

	recentMessages = 4    // messages that are searched for keywords of context entries
	maxContext     = 4000 // tokens of all entries together
	maxNote        = 8000 // tokens of the rules, and of the memory

	notesTimeout = 3 * time.Second // for reading rules and memory, so that notes that do not respond delay an answer little
)

// The notes that models receive: the rules of the person, and the memory that /remember writes.
const (
	rulesNote  = "/USER_RULES.md"
	memoryNote = "/AGENTS.md"
)

// turnFiles are the files for agents that a turn uses.
type turnFiles struct {
	library       *library.Library
	agent         library.Agent // the zero value if the turn has none
	rules, memory string        // from the notes
	context       string        // of the entries that matched
}

// ApplyAgentDefaults sets in c, the settings of a person, the engine and model of the agent called name, and its profile if c has
// none. An unknown agent changes nothing; [Agent.Engine] refuses it.
func ApplyAgentDefaults(c *chat.Config, l *library.Library, name string) {
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

// namedAgent returns the agent of a turn, the zero value if it has none. An agent with another profile than c is refused,
// because neither profile is known to show less than the other.
func namedAgent(l *library.Library, c *chat.Config) (library.Agent, error) {
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

// files reads the files for a turn with the settings c.
func (a *Agent) files(c *chat.Config) (f turnFiles, err error) {
	f.library = a.opts.Library()
	f.agent, err = namedAgent(f.library, c)
	return f, err
}

// checkLevel returns an error for a call that exceeds the level of the agent: r reads only, rw changes things at a risk up to
// medium, and rwd or none allows all.
func (f *turnFiles) checkLevel(c *tool.Call) error {
	if f.agent.Level == "" || f.agent.Level == "rwd" || c.Kind != tool.KindCall && !c.HasEffects() {
		return nil
	}
	risk := tool.RiskUnknown
	if c.Action != nil {
		risk, _ = c.Action.Rated()
	}
	message, allowed := "the agent %s only reads (level r)", []tool.Risk{tool.RiskNone}
	if f.agent.Level == "rw" {
		message, allowed = "the agent %s does not delete, run or send anything (level rw)", append(allowed, tool.RiskLow, tool.RiskMedium)
	}
	if slices.Contains(allowed, risk) && (f.agent.Level != "r" || !c.HasEffects()) {
		return nil
	}
	e := &tool.Error{Op: "call", Kind: tool.Denied, Subject: c.Name, Hint: "say what would be needed; only the person can use another agent"}
	e.Message = fmt.Sprintf(message, f.agent.Name)
	return e
}

// readSkill runs the built-in tool read_skill, whose arguments are the name of a skill and, optionally, a file of it.
func (f *turnFiles) readSkill(args json.RawMessage) (tool.Result, error) {
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

// writePrompt adds to a system prompt what the files say: the agent's prompt, rules, memory and skills. Skills are listed only with tools, because read_skill is one.
func (f *turnFiles) writePrompt(b *strings.Builder, tools bool) {
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

// readRulesAndMemory reads the rules and the memory from the notes, if there are notes and they may be read. These
// calls are recorded like those of the model.
func (r *run) readRulesAndMemory(ctx context.Context) {
	if r.turn.Config.Engine == engineChat {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notesTimeout)
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
		*n.text = firstTokens(w.Get("content").String(), maxNote)
	}
}

// readNote reads a note from a block on, through the pipeline like every other call. If there are no notes, the error
// is of kind NotFound.
func (r *run) readNote(ctx context.Context, note string, block int) (window gjson.Result, err error) {
	args, err := json.Marshal(map[string]any{"path": note, "blockStart": block, "blockLimit": 200, "tokenBudget": 32000})
	if err != nil {
		return window, err
	}
	request := r.newRequest(&call{name: "fs/read", args: args})
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

// matchContext chooses the context entries whose keywords occur in the last messages, and shows which ones.
func (r *run) matchContext() {
	var recent []string
	for _, m := range r.turn.Path[max(0, len(r.turn.Path)-recentMessages):] {
		var text strings.Builder
		for _, p := range m.Parts {
			if p.Kind == llm.PartText {
				text.WriteString(p.Text + "\n")
			}
		}
		recent = append(recent, text.String())
	}
	var b strings.Builder
	var included, omitted []string
	room := maxContext
	for _, m := range r.files.library.Matching(r.files.agent.Name, recent) {
		where := "the last message"
		if m.Back > 0 {
			where = fmt.Sprintf("message %d from the end", m.Back+1)
		}
		place := fmt.Sprintf("%s (%s; %q in %s)", m.Name, m.File, m.Keyword, where)
		text := firstTokens(m.Text, m.Budget)
		if n := tokens(text); n > room {
			omitted = append(omitted, place)
			continue
		} else {
			room -= n
		}
		included = append(included, place)
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", m.Name, text)
	}
	if len(included) > 0 {
		r.files.context = "What the person has written down about this:\n\n" + strings.TrimSpace(b.String())
		r.sink.Notice("context", fmt.Sprintf("context entries before this message: %s", strings.Join(included, ", ")))
	}
	if len(omitted) > 0 {
		r.sink.Notice("context_full", fmt.Sprintf("context entries left out, since all together have %d tokens at most: %s", maxContext, strings.Join(omitted, ", ")))
	}
}

// withContext returns the conversation with the context entries before the message to answer. They are not in the
// system prompt, because a change there would invalidate the provider's cache of the whole conversation.
func (r *run) withContext(before []llm.Message) []llm.Message {
	last := len(before) - 1
	if r.files.context == "" || last < 0 || before[last].Role != llm.RoleUser {
		return before
	}
	out := slices.Clone(before)
	out[last].Parts = slices.Concat([]llm.Part{{Kind: llm.PartText, Text: r.files.context}}, out[last].Parts)
	return out
}

// firstTokens returns the beginning of text, up to about n tokens.
func firstTokens(text string, n int) string {
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

// remember adds text to the memory in the notes, as the command /remember. If a person typed the command, the call has
// origin direct; a command from anybody else needs the same confirmations as a call by a model.
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
		// Replacing only the end keeps concurrent changes by others; writing the whole note would lose them.
		end := uniqueTail(w.Get("content").String())
		name, args = "fs/replace", map[string]any{"path": memoryNote, "edit": map[string]any{"old": end, "new": end + "\n" + item}}
	}
	if err != nil {
		return err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return r.runCommand(ctx, name, raw, func(string) string { return "Remembered: " + text })
}

// uniqueTail returns the shortest end of text that begins a line and occurs only once in text.
func uniqueTail(text string) string {
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
