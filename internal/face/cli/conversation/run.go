package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// AgentCommand is `collie agent`.
func AgentCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("agent", "Have a model work with your tools", p.runCommand())
}

type runFlags struct {
	model, engine, session, system, profile string
	tools, allow                            []string
	maxSteps                                int
	last                                    bool
}

func (p commands) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run [PROMPT]", Short: "Give a model a task, and your tools", Args: cobra.ArbitraryArgs,
		Long: "Asks a model, lets it call your tools until it has an answer, and prints that. What comes on stdin goes\n" +
			"along with the prompt. Before a tool changes anything you are asked; where there is no terminal such a\n" +
			"call is refused, unless --allow names it. With --json every event is printed, one per line.",
		Example: "  collie agent run 'what did I write about tea?'\n" +
			"  git diff | collie agent run 'review this' --tools 'files__*'\n" +
			"  collie agent run --allow document.create 'write a note about this meeting' < minutes.txt",
		RunE: func(c *cobra.Command, args []string) error { return p.run(c.Context(), strings.Join(args, " "), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "ask `MODEL` or PROVIDER/MODEL")
	flags.StringVar(&f.engine, "engine", "", "answer by chat (no tools), react, direct or auto")
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

// overrides returns the flags as overrides of a turn.
func (f *runFlags) overrides() map[string]any {
	out := map[string]any{}
	for name, v := range map[string]string{"model": f.model, "engine": f.engine, "systemPrompt": f.system, "profile": f.profile} {
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
	a, err := p.api(ctx, nil)
	if err != nil {
		return err
	}
	defer a.close()
	session, err := p.session(ctx, a, f)
	if err != nil {
		return err
	}
	asker, err := call.NewCaller(p.Program, "collie agent", false)
	if err != nil {
		return err
	}
	defer asker.Done()
	t := &turn{commands: p, api: a, asker: asker, shown: map[string]string{}}
	end, err := t.answer(ctx, session, text, f.overrides())
	if err != nil {
		return p.noModel(ctx, err)
	}
	return p.finishRun(end)
}

// said is the prompt, with what comes on stdin before it.
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

// session is the id of the session to go on with, or of a new one.
func (p commands) session(ctx context.Context, a *api, f *runFlags) (string, error) {
	if f.session != "" {
		return f.session, nil
	}
	if f.last {
		var page struct{ Sessions []struct{ ID string } }
		if err := a.do(ctx, http.MethodGet, "/sessions", nil, &page); err != nil {
			return "", err
		}
		if len(page.Sessions) > 0 {
			return page.Sessions[0].ID, nil
		}
	}
	var made struct{ ID string }
	err := a.do(ctx, http.MethodPost, "/sessions", map[string]any{}, &made)
	return made.ID, err
}

// turn shows a turn while it runs.
type turn struct {
	commands
	api   *api
	asker tool.Caller

	id     string
	shown  map[string]string // tools by call
	inText bool              // stdout stands in a line of the answer
}

// answer sends text and shows what comes of it; the last thing that is said is returned.
func (t *turn) answer(ctx context.Context, session, text string, overrides map[string]any) (json.RawMessage, error) {
	view := struct {
		Path []struct{ ID string }
		Root string `json:"rootId"`
	}{}
	if err := t.api.do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(session), nil, &view); err != nil {
		return nil, err
	}
	parent := view.Root
	if n := len(view.Path); n > 0 {
		parent = view.Path[n-1].ID
	}
	first, err := json.Marshal(map[string]any{
		"userMessage": map[string]string{"text": text, "parentId": parent}, "overrides": overrides, "capabilities": t.asker.Capabilities(),
	})
	if err != nil {
		return nil, err
	}
	body, say := io.Pipe()
	defer say.Close()
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupted turn is cancelled, and says how it ended
	defer cancel()
	r, err := t.api.request(inner, http.MethodPost, "/sessions/"+url.PathEscape(session)+"/turns", body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	r.Header.Set("Expect", "100-continue")                // a refusal must not wait for the end of what we say
	go func() { _, _ = say.Write(append(first, '\n')) }() // ends when it is read, or with the pipe
	resp, err := t.api.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		return nil, remote.Refused(resp.StatusCode, raw)
	}
	defer context.AfterFunc(ctx, func() { t.stop(inner, cancel) })()
	return t.follow(ctx, json.NewDecoder(resp.Body), say)
}

// stop cancels the turn, and gives it a moment to say so.
func (t *turn) stop(ctx context.Context, cut context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	if t.id == "" || t.api.do(ctx, http.MethodPost, "/turns/"+url.PathEscape(t.id)+"/cancel?reason=interrupted", map[string]any{}, nil) != nil {
		cut()
	}
}

// follow reads the stream of the turn to its end.
func (t *turn) follow(ctx context.Context, in *json.Decoder, out io.Writer) (json.RawMessage, error) {
	var mu sync.Mutex // answers to questions are whole lines
	for {
		var line struct {
			Event json.RawMessage
			Ask   *struct {
				ID     int
				Method string
				Params json.RawMessage
			}
			Turn  json.RawMessage
			Error json.RawMessage
		}
		if err := in.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the gateway ended the answer too early")
			}
			return nil, err
		}
		switch {
		case line.Error != nil:
			return nil, remote.Refused(http.StatusOK, slices.Concat([]byte(`{"error":`), line.Error, []byte(`}`)))
		case line.Turn != nil:
			t.newline()
			return line.Turn, nil
		case line.Ask != nil:
			ask := *line.Ask
			t.newline()
			go func() {
				result, err := t.asker.Ask(ctx, ask.Method, ask.Params)
				answer := map[string]any{"id": ask.ID, "result": result}
				if err != nil {
					answer = map[string]any{"id": ask.ID, "error": map[string]any{"code": remote.CodeInternal, "message": err.Error()}}
				}
				raw, err := json.Marshal(answer)
				if err != nil {
					return // a result and a text always encode
				}
				mu.Lock()
				defer mu.Unlock()
				_, _ = out.Write(append(raw, '\n')) // the end of the turn says that nobody hears it
			}()
		case line.Event != nil:
			t.show(line.Event)
		}
	}
}

// newline ends a line of the answer that is not whole.
func (t *turn) newline() {
	if t.inText {
		fmt.Fprintln(t.Out)
		t.inText = false
	}
}

// show shows an event: text on stdout, all else on stderr.
func (t *turn) show(raw json.RawMessage) {
	e := gjson.ParseBytes(raw)
	if id := e.Get("turnId").String(); id != "" {
		t.id = id
	}
	if t.JSON {
		_ = t.WriteJSON(raw) // who does not read the events may still want the turn to end
		return
	}
	d := e.Get("data")
	switch e.Get("type").String() {
	case "text.delta":
		text := t.Safe(t.Out, d.Get("text").String())
		_, _ = io.WriteString(t.Out, text)
		if text != "" {
			t.inText = !strings.HasSuffix(text, "\n")
		}
	case "tool.proposed":
		if d.Get("partial").Bool() {
			return
		}
		t.newline()
		name := d.Get("name").String()
		t.shown[d.Get("callId").String()] = name
		t.Note("%s", t.Dim("→ "+output.Truncate(output.OneLine(name+" "+d.Get("args").String()), 120)))
	case "tool.result":
		t.newline()
		mark := "✓"
		if !d.Get("ok").Bool() {
			mark = "✗"
		}
		words := []string{mark, t.shown[d.Get("callId").String()], d.Get("durationMs").String(), "ms", output.Truncate(output.OneLine(d.Get("preview").String()), 80)}
		t.Note("%s", t.Dim(strings.Join(words, " ")))
	case "notice":
		t.newline()
		t.Note("%s", output.OneLine(d.Get("text").String()))
	case "retry":
		t.Note("%s", locale.Sprintf("trying again: %s", output.OneLine(d.Get("reason").String())))
	}
}

// ended is the exit of a turn.
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
	if state == "done" {
		return nil
	}
	if p.JSON {
		return root.Exit(root.ExitFailed)
	}
	e := t.Get("error")
	if !e.Exists() {
		return &tool.Error{Op: "turn", Kind: tool.Canceled, Message: "it ended as " + state}
	}
	kind := tool.ErrorKind(e.Get("type").String())
	return p.noModelKind(&tool.Error{Op: "turn", Kind: kind, Code: e.Get("code").String(), Message: e.Get("message").String(), Hint: e.Get("hint").String()})
}

func (p commands) noModelKind(e *tool.Error) error {
	if e.Kind == "cancelled" {
		e.Kind = tool.Canceled
	}
	return e
}

// noModel says, where no provider is set up, what this machine has.
func (p commands) noModel(ctx context.Context, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Code != "no_provider" || p.JSON {
		return err
	}
	cfg, loaded := p.Load()
	if loaded != nil {
		return err
	}
	for _, k := range app.KnownProviders() {
		for _, name := range k.Env {
			if p.Env.Get(name) != "" {
				return root.Usage("no provider of models is set up; %s is set here: %s", name, p.Typed("provider import"))
			}
		}
	}
	for name := range app.FindLocalProviders(ctx, cfg, p.Env) {
		return root.Usage("no provider of models is set up; %s runs on this machine: %s", name, p.Typed("provider add "+name))
	}
	if len(cfg.Providers) > 0 {
		return err
	}
	return root.Usage("no provider of models is set up, and none was found on this machine: %s", p.Typed(strings.Join([]string{"provider", "add", "openai"}, " ")))
}
