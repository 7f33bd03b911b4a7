package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"collie/internal/arguments"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// This file has the engine direct, which runs a command that the person types, such as /fs read, without a model.

// direct is the engine that runs a command: /TOOL ACTION with arguments as in a terminal, where name=value is accepted
// like --name value. It asks no model. If a person typed the command, the call has origin direct; a command from
// anybody else needs the same confirmations as a call by a model.
type direct Agent

// Run implements [chat.Engine].
func (e *direct) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	a := (*Agent)(e)
	out := chat.Outcome{Finish: llm.FinishStop, Steps: 1}
	text, files := commandOf(t.Question)
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/remember"); ok && strings.TrimSpace(rest) != rest { // a space follows the name, and then a text
		return out, a.remember(ctx, t, s, strings.TrimSpace(rest))
	}
	words, err := shellquote.Split(strings.TrimPrefix(strings.TrimSpace(text), "/"))
	if err != nil {
		return out, usageError("the quotes do not match", "close what is opened by ' or \"; \\ takes the next character as it is")
	}
	if len(words) == 0 || words[0] == "help" || words[0] == "tools" {
		help, err := a.helpText(t, words)
		if err == nil {
			s.Emit(0, llm.Event{Kind: llm.EventText, Text: help})
		}
		return out, err
	}
	target, rest, err := a.findAction(t, words)
	if err != nil {
		return out, err
	}
	asJSON := false
	rest = slices.DeleteFunc(rest, func(w string) bool { asJSON = asJSON || w == "--json"; return w == "--json" })
	args, err := target.parseArgs(rest, files)
	if err != nil {
		return out, err
	}
	ctx, watch, stop := withLimit(ctx, time.Duration(t.Config.MaxTurnSeconds)*time.Second)
	defer stop()
	r := &run{agent: a, turn: t, sink: s, watch: watch, typed: t.Person, set: toolset{profile: t.Config.Profile, tools: []llm.Tool{{Name: target.name}}}}
	return out, r.runCommand(ctx, target.name, args, func(text string) string {
		if asJSON {
			return oneLineJSON(text)
		}
		return text
	})
}

// runCommand makes the only call of a turn and emits its result, formatted by show unless it is an error.
func (r *run) runCommand(ctx context.Context, name string, args json.RawMessage, show func(text string) string) error {
	c := &call{id: newCall(), name: name, args: args}
	r.sink.Emit(0, llm.Event{Kind: llm.EventToolStart, ID: c.id, Name: c.name})
	r.sink.Emit(0, llm.Event{Kind: llm.EventToolEnd, ID: c.id, Name: c.name, Args: string(args)})
	r.sink.Proposed(0, chat.ToolCall{ID: c.id, Name: c.name, Args: c.args})
	r.execute(ctx, c)
	if c.err != nil {
		return c.err
	}
	text := c.result.Text
	if !c.result.IsError {
		text = show(text)
	}
	r.sink.Emit(0, llm.Event{Kind: llm.EventText, Index: 1, Text: text})
	return nil
}

// oneLineJSON returns JSON on one line, and other text unchanged.
func oneLineJSON(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(raw)
}

// usageError returns the error for a command that cannot be run.
func usageError(message, hint string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Message: message, Hint: hint}
}

// commandOf returns the command that a message holds, and the files attached to it. Their content is not part of the command.
func commandOf(message []llm.Part) (command string, files []llm.File) {
	var b strings.Builder
	for _, p := range message {
		switch {
		case p.File != nil:
			files = append(files, *p.File)
		case p.IsTyped():
			b.WriteString(p.Text)
		}
	}
	return b.String(), files
}

// commandTarget is the action that a command names.
type commandTarget struct {
	name    string // name in the pipeline
	command string // as a person types it
	action  *tool.Action
}

// findAction returns the action that words begin with, as TOOL ACTION or as the name that MCP clients see, and the remaining
// words.
func (a *Agent) findAction(t *chat.Turn, words []string) (commandTarget, []string, error) {
	tools := a.opts.Tools(t.Config.Profile)
	var names []string
	for i := range tools {
		l := &tools[i]
		names = append(names, l.Name)
		if bare, ok := strings.CutPrefix(words[0], l.Prefix); ok && l.Prefix != "" {
			if action := actionOf(l, bare); action != nil {
				return commandTarget{words[0], "/" + words[0], action}, words[1:], nil
			}
		}
		if arguments.Normalize(l.Name) != arguments.Normalize(words[0]) {
			continue
		}
		if len(words) == 1 {
			return commandTarget{}, nil, usageError("which action of "+l.Name+"?", "/help "+l.Name+" lists them")
		}
		action := actionOf(l, words[1])
		if action == nil {
			e := usageError(l.Name+" has no action "+words[1], "/help "+l.Name+" lists its actions")
			if near, ok := tool.Nearest(words[1], actionNames(l)); ok {
				e.Hint = "did you mean /" + l.Name + " " + near + "?"
			}
			return commandTarget{}, nil, e
		}
		return commandTarget{l.Name + "/" + action.Name, "/" + l.Name + " " + action.Name, action}, words[2:], nil
	}
	e := usageError("there is no tool "+words[0], "/tools lists what there is; begin with // to send a slash to the model")
	if near, ok := tool.Nearest(words[0], names); ok {
		e.Hint = "did you mean /" + near + "?"
	}
	return commandTarget{}, nil, e
}

// actionNames returns the names of the actions of a tool.
func actionNames(l *tool.Tool) []string {
	names := make([]string, len(l.Actions))
	for i := range l.Actions {
		names[i] = l.Actions[i].Name
	}
	return names
}

// actionOf returns the action with that name in any spelling, or nil.
func actionOf(l *tool.Tool, name string) *tool.Action {
	names := actionNames(l)
	has := func(name string) bool { return slices.Contains(names, name) }
	i := slices.Index(names, name)
	if i < 0 {
		i = slices.IndexFunc(names, func(n string) bool { return arguments.Normalize(n) == arguments.Normalize(name) })
	}
	if i < 0 && len(l.Actions) > 0 && l.Actions[0].Strict {
		i = slices.Index(names, tool.ActionName(name, has))
	}
	if i < 0 {
		return nil
	}
	return &l.Actions[i]
}

// parseArgs returns the arguments of the action from words. A single word may be a JSON object with all arguments.
func (g commandTarget) parseArgs(words []string, files []llm.File) (json.RawMessage, error) {
	if len(words) == 1 && strings.HasPrefix(words[0], "{") && json.Valid([]byte(words[0])) {
		return json.RawMessage(words[0]), nil
	}
	r := arguments.Reader{Command: g.command, File: func(name string) ([]byte, error) {
		for _, f := range files {
			if f.Name == name {
				return f.Data, nil
			}
		}
		return nil, fmt.Errorf("no attachment is called %s", name)
	}}
	r.Params, r.Positional = arguments.ForAction(g.action, g.action.InputSchema)
	for i, w := range words {
		if name, _, ok := strings.Cut(w, "="); ok && !strings.HasPrefix(w, "-") {
			if p, err := r.Param(name); err == nil && p != nil {
				words[i] = "--" + w
			}
		}
	}
	args, err := r.Read(words, nil)
	if err != nil {
		return nil, usageError(strings.ReplaceAll(err.Error(), g.command+" --help", "/help "+strings.TrimPrefix(g.command, "/")), "/help "+strings.TrimPrefix(g.command, "/")+" shows what it takes")
	}
	return args, nil
}

// helpText answers /help, /help TOOL, /help TOOL ACTION and /tools.
func (a *Agent) helpText(t *chat.Turn, words []string) (string, error) {
	tools := a.opts.Tools(t.Config.Profile)
	var b strings.Builder
	if len(words) < 2 {
		b.WriteString("/TOOL ACTION runs an action, /help TOOL lists its actions, /remember TEXT adds to the memory in the notes, // begins a message with a slash.\n\n")
		for i := range tools {
			fmt.Fprintf(&b, "/%s: %s\n", tools[i].Name, strings.Join(actionNames(&tools[i]), ", "))
		}
		return b.String(), nil
	}
	i := slices.IndexFunc(tools, func(l tool.Tool) bool { return arguments.Normalize(l.Name) == arguments.Normalize(words[1]) })
	if i < 0 {
		_, _, err := a.findAction(t, words[1:])
		return "", err
	}
	for j := range tools[i].Actions {
		action := &tools[i].Actions[j]
		if len(words) > 2 && actionOf(&tools[i], words[2]) != action {
			continue
		}
		about, _, _ := strings.Cut(strings.TrimSpace(action.Description), "\n")
		fmt.Fprintf(&b, "/%s %s: %s\n", tools[i].Name, action.Name, about)
		if len(words) == 2 {
			continue
		}
		params, _ := arguments.ForAction(action, action.InputSchema)
		for _, p := range params {
			need := ""
			if p.Required {
				need = ", required"
			}
			fmt.Fprintf(&b, "  --%s (%s%s) %s\n", p.Flag, p.TypeName(), need, strings.Join(strings.Fields(p.Description), " "))
		}
	}
	if b.Len() == 0 {
		_, _, err := a.findAction(t, words[1:])
		return "", err
	}
	return b.String(), nil
}
