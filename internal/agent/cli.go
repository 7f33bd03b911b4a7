package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"collie/internal/agent/acp"
	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/process"
	"collie/internal/tool"
)

// Programs is what the engine cli needs to start the agents of others.
type Programs struct {
	Environ []string // our environment, "K=V" each, of which agents get what they are meant to
	Process process.Options
	Work    string // a folder with a folder for each agent that is told none
	Version string // of this program
	// Open opens the endpoint at which an agent finds a toolbox; nil offers no tools.
	Open func(context.Context, *Toolbox) (Endpoint, error)
	// Silence is how long an agent may say and do nothing; 0 means two minutes.
	Silence time.Duration
}

// ownTools is what the names of calls begin with that agents of others made with tools of their own:
// ownTools + AGENT.KIND. They went through no stage of ours.
const ownTools = "cli."

// cli hands a turn to the agent of somebody else, which runs in a process of its own until the turn ends. The
// tools that such an agent brings along are out of our reach: it says what it does, and what it asks, a person answers.
type cli Agent

// Run is a [chat.Engine].
func (e *cli) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (out chat.Outcome, err error) {
	a := (*Agent)(e)
	if !t.Person {
		return out, &tool.Error{
			Op: "turn", Kind: tool.Denied, Subject: "engine", Message: "only a person at a terminal starts another agent, by a message of their own",
			Hint: "send the message with collie agent run or collie chat, or choose another engine",
		}
	}
	files := files{library: a.opts.Library()}
	if files.agent, err = program(files.library, &t.Config); err != nil {
		return out, err
	}
	ctx, watch, stop := withLimit(ctx, time.Duration(t.Config.MaxTurnSeconds)*time.Second)
	defer stop()
	r := &foreign{
		run: run{agent: a, turn: t, sink: s, watch: watch, files: files, refused: map[string]int{}}, own: map[string]*ownCall{},
		whenOver: func(f func()) func() bool { return context.AfterFunc(ctx, f) },
	}
	command, dir, err := r.command()
	if err != nil {
		return out, err
	}
	r.standing(ctx)
	r.recall()
	s.Emit(0, llm.Event{Kind: llm.EventStart, Provider: engineCLI + "/" + files.agent.Name})
	session, err := acp.Open(ctx, acp.Options{Command: command, Process: a.opts.Programs.Process, Version: a.opts.Programs.Version, Client: r})
	if err != nil {
		return out, err
	}
	defer func() {
		r.end()
		if closed := session.Close(); closed != nil {
			a.opts.Logger.Warn("an agent does not end", "agent", files.agent.Name, "error", closed)
		}
	}()
	blocks, err := r.question(ctx, session)
	if err != nil {
		return out, err
	}
	servers, closeEndpoint, err := r.open(ctx, session.HTTP)
	if err != nil {
		return out, err
	}
	defer closeEndpoint()
	if err := session.Begin(ctx, dir, servers); err != nil {
		return out, err
	}
	defer r.listen(cmp.Or(a.opts.Programs.Silence, silence))()
	reason, err := session.Prompt(ctx, blocks)
	out.Steps = 1
	if err != nil {
		return out, err
	}
	out.Finish, err = finished(reason, files.agent.Name)
	return out, err
}

// finished is why an answer ended, from the word of the protocol.
func finished(reason, name string) (llm.Finish, error) {
	switch reason {
	case "max_tokens", "max_turn_requests":
		return llm.FinishLength, nil
	case "refusal":
		return llm.FinishRefusal, nil
	case "cancelled":
		return "", &tool.Error{Op: "agent", Kind: tool.Canceled, Subject: name, Message: "it gave up the answer by itself", Hint: "send the message again"}
	}
	return llm.FinishStop, nil
}

// foreign is one turn of another agent. It is the [acp.Client].
type foreign struct {
	run

	mu    sync.Mutex
	at    acp.UpdateKind // of the last piece of text; empty behind a call
	index int            // of the part that is being written
	own   map[string]*ownCall
	over  bool
	plan  []string // the steps that were shown last
	plans int
	usage acp.Usage

	whenOver func(f func()) (stop func() bool) // calls f when the turn is to end
	working  int                               // calls of our tools, and questions to the person
	quiet    *time.Timer                       // runs out when the agent has been silent for too long
	patience time.Duration
}

// silence is how long an agent may say and do nothing.
const silence = 2 * time.Minute

// listen ends the turn when the agent says and does nothing for a time. stop is to be called.
func (f *foreign) listen(patience time.Duration) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.patience = patience
	f.quiet = time.AfterFunc(patience, f.tired)
	return func() { f.quiet.Stop() }
}

// heard says that the agent is not silent. The caller holds mu.
func (f *foreign) heard() {
	if f.quiet != nil {
		f.quiet.Reset(f.patience)
	}
}

func (f *foreign) tired() {
	f.mu.Lock()
	defer f.mu.Unlock()
	busy := f.working > 0
	for _, c := range f.own {
		busy = busy || c.shown && !c.closed // a long build says nothing either
	}
	if busy {
		f.heard()
		return
	}
	f.watch.cancel(&tool.Error{
		Op: "agent", Kind: tool.Timeout, Subject: f.files.agent.Name, Message: "it said and did nothing for " + f.patience.String(), Hint: "send the message again",
	})
}

// ownCall is a call that the agent made with a tool of its own.
type ownCall struct {
	acp.Call
	id     string // in the conversation
	begun  time.Time
	shown  bool
	closed bool
}

// name is that of the call for people, the audit and who allows it.
func (f *foreign) name(c *acp.Call) string {
	return ownTools + f.files.agent.Name + "." + cmp.Or(c.Kind, "other")
}

// passed are the variables that every agent gets; what else it needs, keys of models before all, its file names.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "XDG_*",
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// command is how the agent is started, and the folder in which it works.
func (f *foreign) command() (c process.Command, dir string, err error) {
	named := &f.files.agent
	wrong := func(subject, message, hint string, err error) (process.Command, string, error) {
		return c, "", &tool.Error{Op: "turn", Kind: tool.Invalid, Subject: subject, Message: message, Hint: hint, Err: err}
	}
	for _, v := range f.agent.opts.Programs.Environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(passed, func(p string) bool { return matchEnv(p, name) }) || slices.Contains(named.Env, name) {
			c.Env = append(c.Env, v)
		}
	}
	if dir = f.turn.Config.Folder; dir == "" {
		dir = filepath.Join(f.agent.opts.Programs.Work, named.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return wrong("folder", "the agent has no folder to work in", "", err)
		}
	}
	if !filepath.IsAbs(dir) {
		return wrong("folder", fmt.Sprintf("it is %q, expected an absolute path", dir), "", nil)
	}
	c.Label, c.Name, c.Args, c.Dir = named.Name, named.Command[0], named.Command[1:], dir
	return c, dir, nil
}

// matchEnv compares names of variables without case, as Windows and HTTP proxies have them.
func matchEnv(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(pattern, name)
}

// question is what the agent is asked: what it should know beforehand and the conversation so far, which is new to it, then
// the message.
func (f *foreign) question(ctx context.Context, s *acp.Session) ([]acp.Block, error) {
	var b strings.Builder
	f.files.write(&b, false)
	if own := f.turn.Config.SystemPrompt; own != "" {
		b.WriteString("\n" + own + "\n")
	}
	path := f.screenAttachments(ctx, unescaped(f.turn.Path))
	if before := transcript(path[:max(0, len(path)-1)]); before != "" {
		b.WriteString("\n# The conversation so far\n\n" + before)
	}
	if f.files.context != "" {
		b.WriteString("\n" + f.files.context + "\n")
	}
	if len(f.turn.Partial) > 0 {
		b.WriteString("\n# Your answer so far, which broke off: go on where it stops\n\n" + transcript(chat.Messages(f.turn.Partial, unknown)))
	}
	var blocks []acp.Block
	if b.Len() > 0 {
		blocks = append(blocks, acp.Block{Text: strings.TrimSpace(b.String()) + "\n\n# The message to answer now\n"})
	}
	if len(path) == 0 {
		return blocks, nil
	}
	for _, p := range path[len(path)-1].Parts {
		switch {
		case p.Kind == llm.PartText:
			blocks = append(blocks, acp.Block{Text: p.Text})
		case p.File == nil:
		case strings.HasPrefix(p.File.MIME, "image/") && s.Images:
			blocks = append(blocks, acp.Block{MIME: p.File.MIME, Data: p.File.Data})
		case strings.HasPrefix(p.File.MIME, "image/"):
			return nil, &tool.Error{Op: "turn", Kind: tool.Invalid, Subject: f.files.agent.Name, Message: "this agent takes no pictures", Hint: "leave the picture out, or ask another one"}
		default:
			blocks = append(blocks, acp.Block{Text: "[" + p.File.Name + "]\n" + string(p.File.Data)})
		}
	}
	return blocks, nil
}

// transcript is a conversation as text, without calls and what they brought.
func transcript(path []llm.Message) string {
	var b strings.Builder
	for _, m := range path {
		var texts []string
		for _, p := range m.Parts {
			if p.Kind == llm.PartText && p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			fmt.Fprintf(&b, "%s: %s\n\n", m.Role, strings.Join(texts, "\n"))
		}
	}
	return b.String()
}

// Update is that of [acp.Client].
func (f *foreign) Update(u acp.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	f.heard()
	switch u.Kind {
	case acp.Said, acp.Thought:
		if u.Kind != f.at {
			f.at, f.index = u.Kind, f.index+1
		}
		kind := llm.EventText
		if u.Kind == acp.Thought {
			kind = llm.EventReasoning
		}
		f.sink.Emit(0, llm.Event{Kind: kind, Index: f.index, Text: u.Text})
	case acp.Plan:
		f.tellPlan(u.Text)
	case acp.Used:
		f.usage = u.Usage
	case acp.Called, acp.Progress:
		f.at = ""
		c := f.known(u.Call)
		if c == nil || c.closed {
			return
		}
		if c.Status != "" && c.Status != "pending" {
			f.show(c)
		}
		switch c.Status {
		case "completed":
			f.close(c, chat.CallDone, c.Output)
		case "failed":
			f.close(c, chat.CallFailed, c.Output)
		}
	}
}

// maxPlans bounds how often a plan is told of in one turn.
const maxPlans = 20

// tellPlan shows the plan of the agent when its steps have changed. That a step is done is not worth a notice: what the
// agent does is shown anyway. The caller holds mu.
func (f *foreign) tellPlan(text string) {
	var steps []string
	for line := range strings.Lines(text) {
		_, step, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "] ")
		steps = append(steps, step)
	}
	if f.plans == maxPlans || slices.Equal(steps, f.plan) {
		return
	}
	f.plan, f.plans = steps, f.plans+1
	f.sink.Notice("plan", fmt.Sprintf("the plan of %s:\n%s", f.files.agent.Name, head(text, maxPlan)))
}

// maxPlan is how many tokens of a plan are shown.
const maxPlan = 1000

// tellUsage shows what the agent said that its answer took. Each answer is a session of its own for an agent, so the figures
// are those of the turn. Dollars are counted; the tokens of a context are not those that were read and written, so they are
// only shown. The caller holds mu.
func (f *foreign) tellUsage() {
	u, name := f.usage, f.files.agent.Name
	var said []string
	switch {
	case u.Window > 0:
		said = append(said, fmt.Sprintf("%d of %d tokens in its context", u.Tokens, u.Window))
	case u.Tokens > 0:
		said = append(said, fmt.Sprintf("%d tokens in its context", u.Tokens))
	}
	if u.Cost > 0 {
		said = append(said, fmt.Sprintf("cost %s %s", strconv.FormatFloat(math.Round(u.Cost*1e6)/1e6, 'f', -1, 64), u.Currency))
	}
	if u.Cost > 0 && u.Currency == "USD" {
		f.sink.Usage(engineCLI+"/"+name, "", "", llm.Usage{}, int64(math.Round(u.Cost*1e6)))
	}
	if len(said) > 0 {
		f.sink.Notice("usage", fmt.Sprintf("%s says of this answer: %s", name, strings.Join(said, "; ")))
	}
}

// maxOwn bounds the calls of its own that an agent tells of in one turn.
const maxOwn = 1000

// known takes up what is told of a call, and returns all that is known of it; nil of one that is too many.
func (f *foreign) known(u acp.Call) *ownCall {
	c := f.own[u.ID]
	if c == nil {
		if len(f.own) >= maxOwn {
			if len(f.own) == maxOwn {
				f.sink.Notice("too_many_calls", fmt.Sprintf("%s has made %d calls; no more are shown", f.files.agent.Name, maxOwn))
				f.own[""] = &ownCall{closed: true}
			}
			return nil
		}
		c = &ownCall{id: newCall(), begun: time.Now(), Call: acp.Call{ID: u.ID}}
		f.own[u.ID] = c
	}
	if u.Title != "" {
		c.Title = u.Title
	}
	if u.Kind != "" && !c.shown {
		c.Kind = u.Kind
	}
	if u.Status != "" {
		c.Status = u.Status
	}
	if u.Input != nil {
		c.Input = u.Input
	}
	if u.Paths != nil {
		c.Paths = u.Paths
	}
	if u.Output != "" {
		c.Output = u.Output
	}
	return c
}

// arguments are what is shown and kept of a call of the agent's own.
func (c *ownCall) arguments() json.RawMessage {
	args := map[string]any{"title": c.Title}
	if c.Input != nil {
		args["input"] = c.Input
	}
	if len(c.Paths) > 0 {
		args["paths"] = c.Paths
	}
	raw, err := json.Marshal(args)
	if err != nil { // the input is not JSON after all
		return json.RawMessage(`{}`)
	}
	return raw
}

// show tells the conversation of a call, once.
func (f *foreign) show(c *ownCall) {
	if c.shown {
		return
	}
	c.shown = true
	f.sink.Proposed(0, chat.ToolCall{ID: c.id, Name: f.name(&c.Call), Args: c.arguments()})
}

// close tells the conversation how a call ended.
func (f *foreign) close(c *ownCall, state chat.CallState, text string) {
	c.closed = true
	f.show(c)
	result := llm.Part{Kind: llm.PartToolResult, Call: c.id, Name: f.name(&c.Call), Text: text, IsError: state != chat.CallDone}
	f.sink.Answered(c.id, state, f.limitResult(context.Background(), result), time.Since(c.begun).Milliseconds())
}

// end closes what the agent left open. Nothing that it says afterwards counts.
func (f *foreign) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.tellUsage()
	for _, c := range f.own {
		if c.shown && !c.closed {
			f.close(c, chat.CallUnknown, "the turn ended while it ran")
		}
	}
}

// program is the agent that answers a turn of the engine cli: the one that is named, else the only one that there is.
func program(l *library.Library, c *chat.Config) (library.Agent, error) {
	a, err := named(l, c)
	if err != nil || len(a.Command) > 0 {
		return a, err
	}
	var all []library.Agent
	var names []string
	for _, one := range l.Agents {
		if len(one.Command) > 0 {
			all, names = append(all, one), append(names, one.Name)
		}
	}
	e := &tool.Error{Op: "turn", Kind: tool.Invalid, Subject: "agent", Message: "no agent of another program is here", Hint: "install one, or write agents/NAME.md with engine: cli and its command"}
	switch {
	case c.Agent != "":
		e.Subject, e.Message = a.Name, "this agent has no command that could be started"
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		e.Message, e.Hint = "several agents of other programs are here: "+strings.Join(names, ", "), "name one: --agent "+names[0]
	}
	return library.Agent{}, e
}
