package agent

import (
	"cmp"
	"context"
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

// This file has the engine cli, which hands a turn to an agent of another program, such as Claude Code or Codex.

// Programs says how the engine cli starts agents of other programs.
type Programs struct {
	Environ []string // our environment as KEY=VALUE; agents get only part of it
	Process process.Options
	Work    string // parent of the working directories of agents whose session names none
	Version string // of this program
	// Open opens the MCP server for a Toolbox; nil offers the agent no tools.
	Open func(context.Context, *Toolbox) (Endpoint, error)
	// Silence is the time without any message after which an agent is given up; 0 means two minutes.
	Silence time.Duration
}

// ownToolPrefix is the prefix in the names of calls that an agent made with its own tools: ownToolPrefix + AGENT.KIND. Only their
// permission passed the stages of the pipeline.
const ownToolPrefix = "cli."

// cli is the engine that hands a turn to an agent of another program, which runs in its own process until the turn
// ends. We cannot control the agent's own tools: their calls are shown, and where the agent asks for permission, the
// person decides.
type cli Agent

// Run implements [chat.Engine].
func (e *cli) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (out chat.Outcome, err error) {
	a := (*Agent)(e)
	if !t.Person {
		return out, &tool.Error{
			Op: "turn", Kind: tool.Denied, Subject: "engine", Message: "only a person at a terminal starts another agent, by a message of their own",
			Hint: "send the message with collie agent run or collie chat, or choose another engine",
		}
	}
	files := turnFiles{library: a.opts.Library()}
	if files.agent, err = findProgram(files.library, &t.Config); err != nil {
		return out, err
	}
	ctx, watch, stop := withLimit(ctx, time.Duration(t.Config.MaxTurnSeconds)*time.Second)
	defer stop()
	r := &foreignTurn{
		run: run{agent: a, turn: t, sink: s, watch: watch, files: files, refused: map[string]int{}}, own: map[string]*ownCall{},
		onTurnEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) },
	}
	command, dir, err := r.command()
	if err != nil {
		return out, err
	}
	r.readRulesAndMemory(ctx)
	r.matchContext()
	s.Emit(0, llm.Event{Kind: llm.EventStart, Provider: engineCLI + "/" + files.agent.Name})
	session, err := acp.Open(ctx, acp.Options{Command: command, Process: a.opts.Programs.Process, Version: a.opts.Programs.Version, Client: r})
	if err != nil {
		return out, err
	}
	defer func() {
		r.endCalls()
		if closed := session.Close(); closed != nil {
			a.opts.Logger.Warn("an agent does not end", "agent", files.agent.Name, "error", closed)
		}
	}()
	blocks, err := r.promptBlocks(ctx, session)
	if err != nil {
		return out, err
	}
	servers, closeEndpoint, err := r.openEndpoint(ctx, session.HTTP)
	if err != nil {
		return out, err
	}
	defer closeEndpoint()
	if err := session.Begin(ctx, dir, servers); err != nil {
		return out, err
	}
	defer r.watchSilence(cmp.Or(a.opts.Programs.Silence, defaultSilence))()
	answer, err := session.Prompt(ctx, blocks)
	out.Steps = 1
	if err != nil {
		return out, err
	}
	r.recordTokens(answer.Tokens)
	out.Finish, err = finishOf(answer.Stop, files.agent.Name)
	return out, err
}

// finishOf converts the stop reason of the protocol. An agent that cancelled by itself is an error.
func finishOf(reason, name string) (llm.Finish, error) {
	switch reason {
	case "max_tokens", "max_turn_requests":
		return llm.FinishLength, nil
	case "refusal":
		return llm.FinishRefusal, nil
	case "cancelled":
		return "", &tool.Error{Op: "agent", Kind: tool.Canceled, Subject: name, Message: "it stopped answering by itself", Hint: "send the message again"}
	}
	return llm.FinishStop, nil
}

// foreignTurn is one turn of an agent of another program. It implements [acp.Client].
type foreignTurn struct {
	run

	mu       sync.Mutex
	lastKind acp.UpdateKind // kind of the last text; empty after a call
	index    int            // of the current part of the answer
	own      map[string]*ownCall
	ended    bool
	plan     []string // the steps shown last
	plans    int
	usage    acp.Usage
	token    llm.Usage // of the whole answer, if the agent says

	onTurnEnd func(f func()) (stop func() bool) // calls f when the turn ends
	working   int                               // running calls of our tools and open questions to the person
	timer     *time.Timer                       // calls checkSilence
	silence   time.Duration
}

// Update implements [acp.Client].
func (f *foreignTurn) Update(u acp.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	f.restartSilence()
	switch u.Kind {
	case acp.Said, acp.Thought:
		if u.Kind != f.lastKind {
			f.lastKind, f.index = u.Kind, f.index+1
		}
		kind := llm.EventText
		if u.Kind == acp.Thought {
			kind = llm.EventReasoning
		}
		f.sink.Emit(0, llm.Event{Kind: kind, Index: f.index, Text: u.Text})
	case acp.Plan:
		f.showPlan(u.Text)
	case acp.Used:
		f.usage = u.Usage
	case acp.Called, acp.Progress:
		f.lastKind = ""
		c := f.mergeCall(u.Call)
		if c == nil || c.closed {
			return
		}
		if c.Status != "" && c.Status != "pending" {
			f.showOnce(c)
		}
		switch c.Status {
		case "completed":
			f.closeCall(c, chat.CallDone, c.Output)
		case "failed":
			f.closeCall(c, chat.CallFailed, c.Output)
		}
	}
}

// findProgram returns the agent for a turn of the engine cli: the one that the settings name, or else the only one there
// is.
func findProgram(l *library.Library, c *chat.Config) (library.Agent, error) {
	a, err := namedAgent(l, c)
	if err != nil || len(a.Command) > 0 {
		return a, err
	}
	var all []library.Agent
	var names []string
	for _, a := range l.Agents {
		if len(a.Command) > 0 {
			all, names = append(all, a), append(names, a.Name)
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
