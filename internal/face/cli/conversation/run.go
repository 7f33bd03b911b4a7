package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/tool"
)

// This file has the command `collie agent run`, which lets a model answer one prompt.

// AgentCommand returns the command `collie agent`.
func AgentCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("agent", "Have a model work with your tools", p.runCommand(), p.agentsCommand(), p.showAgentCommand(), p.newAgentCommand(), p.importAgentsCommand())
}

// runFlags are the flags of `collie agent run`.
type runFlags struct {
	model, engine, session, system, profile, agent string
	tools, allow                                   []string
	maxSteps                                       int
	last                                           bool
}

func (p commands) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run [PROMPT]", Short: "Give a model a task, and your tools", Args: cobra.ArbitraryArgs,
		Long: "Asks a model, lets it call your tools until it has an answer, and prints that. What comes on stdin goes\n" +
			"along with the prompt. Before a call that may overwrite, move, delete, run or send something you are asked;\n" +
			"where there is no terminal such a call is refused, unless --allow names it. With --json every event is\n" +
			"printed, one per line.",
		Example: "  collie agent run 'what did I write about tea?'\n" +
			"  git diff | collie agent run 'review this' --tools 'files__*'\n" +
			"  collie agent run --allow fs.mv 'put the notes on this list into /Work/Archive' < done.txt",
		RunE: func(c *cobra.Command, args []string) error { return p.run(c.Context(), strings.Join(args, " "), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.agent, "agent", "", "answer as the agent `NAME`, which a new session remembers")
	flags.StringVar(&f.model, "model", "", "ask `MODEL` or PROVIDER/MODEL")
	flags.StringVar(&f.engine, "engine", "", "answer by chat (no tools), react, direct, cli (another agent) or auto")
	flags.StringArrayVar(&f.tools, "tools", nil, "show only tools that match `PATTERN`, such as 'files__*' (repeatable)")
	flags.StringArrayVar(&f.allow, "allow", nil, "let `TOOL.ACTION` run without being asked, or all of TOOL.* (repeatable)")
	flags.IntVar(&f.maxSteps, "max-steps", 0, "ask the model at most `N` times")
	flags.StringVar(&f.session, "session", "", "go on with the session `ID`")
	flags.BoolVar(&f.last, "continue", false, "go on with the newest session")
	flags.StringVar(&f.system, "system", "", "tell the model `TEXT` beforehand")
	flags.StringVar(&f.profile, "profile", "", "show the tools of profile `NAME`")
	p.LocalFlag(c)
	p.KernelFlags(c)
	return c
}

// overrides returns the flags as the settings that a turn overrides, by their names in the API.
func (f *runFlags) overrides() map[string]any {
	out := map[string]any{}
	for name, v := range map[string]string{"model": f.model, "engine": f.engine, "systemPrompt": f.system, "profile": f.profile, "agent": f.agent} {
		if v != "" {
			out[name] = v
		}
	}
	if len(f.tools) > 0 {
		out["tools"] = f.tools
	}
	if len(f.allow) > 0 {
		out["allow"] = f.allow
	}
	if f.maxSteps > 0 {
		out["maxSteps"] = f.maxSteps
	}
	return out
}

// run runs `collie agent run`: it sends the prompt to a session and prints the answer.
func (p commands) run(ctx context.Context, prompt string, f *runFlags) error {
	text, err := p.promptText(prompt)
	if err != nil {
		return err
	}
	for _, a := range f.allow {
		if !strings.Contains(strings.Trim(a, "."), ".") {
			return root.Usage("--allow is %q, expected TOOL.ACTION", a)
		}
	}
	if f.maxSteps < 0 {
		return root.Usage("--max-steps is %d, expected a number of steps", f.maxSteps)
	}
	p.Calls = true
	a, err := Open(ctx, p.Program, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	asker, err := call.NewCaller(p.Program, "collie agent", false)
	if err != nil {
		return err
	}
	defer asker.Done()
	session, isNew, err := p.session(ctx, a, f)
	if err != nil {
		return err
	}
	show := NewPrinter(p.Program)
	end, err := a.Say(ctx, session, text, nil, f.overrides(), asker, show.Event)
	show.End()
	if err != nil {
		if isNew {
			deleteIfEmpty(context.WithoutCancel(ctx), a, session)
		}
		return NoModel(ctx, p.Program, f.model, err)
	}
	return p.finishRun(end)
}

// deleteIfEmpty deletes a session in which no turn began, so that it has no message. A failure leaves it in the list.
func deleteIfEmpty(ctx context.Context, a *API, session string) {
	view := struct {
		Path []json.RawMessage
	}{}
	if err := a.Do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(session), nil, &view); err == nil && len(view.Path) == 0 {
		_ = a.Do(ctx, http.MethodDelete, "/sessions/"+url.PathEscape(session), nil, nil)
	}
}

// promptText returns the prompt, followed by the text on stdin, if there is any.
func (p commands) promptText(prompt string) (string, error) {
	if output.IsTerminal(p.In) {
		if strings.TrimSpace(prompt) == "" {
			return "", root.Usage("what is to be done? usage: collie agent run [PROMPT]")
		}
		return prompt, nil
	}
	raw, err := io.ReadAll(p.In)
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(strings.TrimSpace(string(raw)), "\uFFFD")
	switch {
	case text == "" && strings.TrimSpace(prompt) == "":
		return "", root.Usage("what is to be done? usage: collie agent run [PROMPT]")
	case text == "":
		return prompt, nil
	case prompt == "":
		return text, nil
	}
	return prompt + "\n\n" + text, nil
}

// session returns the id of the session to continue, or of a new one.
func (p commands) session(ctx context.Context, a *API, f *runFlags) (id string, isNew bool, err error) {
	if f.session != "" {
		return f.session, false, nil
	}
	if f.last {
		if id, err := a.Newest(ctx); id != "" || err != nil {
			return id, false, err
		}
	}
	config := map[string]any{}
	if f.agent != "" {
		config["agent"] = f.agent
	}
	id, err = a.NewSession(ctx, config)
	return id, true, err
}

// finishRun reports the end of a turn, and returns the error for the exit code.
func (p commands) finishRun(end json.RawMessage) error {
	t := gjson.ParseBytes(end)
	state := t.Get("state").String()
	switch {
	case p.JSON:
		if err := p.WriteJSON(slices.Concat([]byte(`{"type":"turn","data":`), end, []byte(`}`))); err != nil {
			return err
		}
	case t.Get("usage.input").Int() > 0:
		p.Note("%s", p.Dim(locale.Sprintf("%s tokens in, %s out; session %s", t.Get("usage.input").String(), t.Get("usage.output").String(), t.Get("sessionId").String())))
	}
	if p.JSON && state != "done" {
		return root.Exit(root.ExitFailed)
	}
	return EndError(end)
}

// EndError returns the error that a turn ended with, nil if it is done.
func EndError(end json.RawMessage) error {
	t := gjson.ParseBytes(end)
	state := t.Get("state").String()
	if state == "done" {
		return nil
	}
	e := t.Get("error")
	if !e.Exists() {
		return &tool.Error{Op: "turn", Kind: tool.Canceled, Message: "it ended as " + state}
	}
	kind := tool.ErrorKind(e.Get("type").String())
	if kind == "cancelled" {
		kind = tool.Canceled
	}
	return &tool.Error{Kind: kind, Code: e.Get("code").String(), Message: e.Get("message").String(), Hint: e.Get("hint").String()}
}

// NoModel replaces err by advice if it is about a missing provider or model. If no provider is set up, it names
// those found on this machine; if no model is chosen, it lists the models. model is the requested model.
func NoModel(ctx context.Context, p *root.Program, model string, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Code != "no_provider" || p.JSON {
		return err
	}
	cfg, loaded := p.Load()
	switch {
	case loaded != nil:
		return err
	case len(cfg.Providers) > 0 && cfg.Agent.Model == "" && model == "":
		return noModelChosen(ctx, p, cfg, err)
	case len(cfg.Providers) > 0:
		return err
	}
	return root.Usage("%s", FoundHere(ctx, p))
}

// FoundHere returns a sentence that tells how to set up a provider of models. It names the first one that is found on this
// machine, if there is any. It returns "" if a provider is set up already.
func FoundHere(ctx context.Context, p *root.Program) string {
	cfg, err := p.Load()
	if err != nil || len(cfg.Providers) > 0 {
		return ""
	}
	for _, k := range llmadmin.KnownProviders() {
		for _, name := range k.Env {
			if p.Env.Get(name) != "" {
				return locale.Sprintf("no provider of models is set up; %s is set here: %s", name, p.Typed("provider import"))
			}
		}
	}
	for name := range app.FindLocalProviders(ctx, cfg, p.Env) {
		return locale.Sprintf("no provider of models is set up; %s runs on this machine: %s", name, p.Typed("provider add "+name))
	}
	for _, a := range app.Library(cfg, p.Env).Agents {
		if len(a.Command) > 0 {
			return locale.Sprintf("no provider of models is set up; %s is here, an agent with a model of its own: %s", a.Name, p.Typed("agent run --agent "+a.Name))
		}
	}
	command := strings.Join([]string{"provider", "add", "openai"}, " ") // not a constant, which would count as a text to translate
	return locale.Sprintf("no provider of models is set up, and none was found on this machine: %s", p.Typed(command))
}

// maxNamed is how many models an error names.
const maxNamed = 6

// noModelChosen returns an error that names models to choose from: those that can call tools, of the configured provider
// or else of all. If there is none, it returns err.
func noModelChosen(ctx context.Context, p *root.Program, cfg *config.Config, err error) error {
	m, opened := app.OpenModelsWithoutGateway(ctx, cfg, app.Options{Env: p.Env})
	if opened != nil {
		return err
	}
	defer func() { _ = m.Close(ctx) }() // only a list was read; an error of Close changes nothing
	listed, _ := m.List(ctx, cfg.Agent.Provider)
	var names []string
	for _, i := range listed {
		if i.Tools {
			names = append(names, i.Provider+"/"+i.Model)
		}
	}
	if len(names) == 0 {
		return err
	}
	shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		shown += ", …"
	}
	return root.Usage("no model is chosen; there are %s: %s", shown, p.Typed("config set agent.model "+names[0]))
}
