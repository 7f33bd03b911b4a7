// Package chat is collie chat: a conversation with a model at a terminal. It speaks the API of the gateway as the other
// commands of conversations do, and has a screen that is drawn and a plain one, which goes line by line.
package chat

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

type flags struct {
	session, model, agent string
	last, plain           bool
}

// Command is `collie chat`.
func Command(p *root.Program) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use: "chat", Short: "Talk with a model that works with your tools", Args: cobra.NoArgs,
		Long: "Opens a conversation in this terminal. The model may call your tools; before one changes anything you\n" +
			"are asked. What begins with / is a command: /help lists them, and /TOOL ACTION runs an action without\n" +
			"any model. Ctrl-C ends an answer, twice it leaves; what you were typing is kept for --continue.",
		Example: "  collie chat\n  collie chat --continue\n  collie chat --model openai/gpt-5 --plain",
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), p, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.session, "session", "", "go on with the session `ID`")
	flags.BoolVar(&f.last, "continue", false, "go on with the newest session")
	flags.StringVar(&f.agent, "agent", "", "answer as the agent `NAME`, which a new session remembers")
	flags.StringVar(&f.model, "model", "", "ask `MODEL` or PROVIDER/MODEL")
	flags.BoolVar(&f.plain, "plain", false, "go line by line and never move the cursor, for screen readers")
	p.LocalFlag(c)
	p.KernelFlags(c)
	return c
}

func run(ctx context.Context, p *root.Program, f *flags) error {
	if p.JSON {
		return root.Usage("chat is for people; for programs there is %s", p.Typed("agent run --json"))
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	p.Calls = true
	k := &talk{Program: p, flags: f, drafts: draftsIn(cfg.Paths.State), overrides: map[string]any{}}
	if f.model != "" {
		k.overrides["model"] = f.model
	}
	if f.plain || p.Env.Get("TERM") == "dumb" || !output.IsTerminal(p.In) || !output.IsTerminal(p.Out) {
		return k.plainly(ctx)
	}
	return k.draw(ctx)
}

// talk is a conversation, however it is shown.
type talk struct {
	*root.Program
	flags  *flags
	drafts drafts

	api *conversation.API

	beginning sync.Mutex // held by who begins the session
	mu        sync.Mutex
	session   string // empty until something is said
	overrides map[string]any
	editing   string              // the message that the next one takes the place of
	tools     map[string][]string // and their actions, once they are known
	prompts   []prompt            // of all servers, once they are known
	resources []resource
	learntAll bool // every server has told of its tools, or failed
}

// id is that of the session.
func (k *talk) id() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session
}

func (k *talk) setID(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = id
}

// open opens the API and finds the session to go on with. The caller closes what is returned.
func (k *talk) open(ctx context.Context) (*conversation.API, error) {
	api, err := conversation.Open(ctx, k.Program, nil)
	if err != nil {
		return nil, err
	}
	id := k.flags.session
	if id == "" && k.flags.last {
		if id, err = api.Newest(ctx); err != nil {
			api.Close()
			return nil, err
		}
	}
	k.setID(id)
	return api, nil
}

// begun is the session, which begins with the first thing that is said.
func (k *talk) begun(ctx context.Context) (string, error) {
	k.beginning.Lock()
	defer k.beginning.Unlock()
	if id := k.id(); id != "" {
		return id, nil
	}
	config := map[string]any{}
	if k.flags.agent != "" {
		config["agent"] = k.flags.agent
	}
	id, err := k.api.NewSession(ctx, config)
	if err == nil {
		k.setID(id)
	}
	return id, err
}

// plainly asks for a line, prints what comes of it, and so on to the end of the input.
func (k *talk) plainly(ctx context.Context) error {
	api, err := k.open(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	k.api = api
	asker, err := call.NewCaller(k.Program, "collie chat", false)
	if err != nil {
		return err
	}
	defer asker.Done()
	show := conversation.NewPrinter(k.Program)
	for {
		if output.IsTerminal(k.In) {
			_, _ = io.WriteString(k.Err, "> ")
		}
		line, err := asker.Line(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case isQuit(line):
			return nil
		}
		if err := k.line(ctx, line, asker, show); err != nil {
			if ctx.Err() != nil || !output.IsTerminal(k.In) {
				return err
			}
			k.Warn("%s", err.Error())
		}
	}
}

// line runs a command, or has a text answered, and prints what comes of it.
func (k *talk) line(ctx context.Context, line string, asker conversation.Asker, show *conversation.Printer) error {
	run, found := k.commandIn(line)
	if !found {
		if line == "/help" {
			k.print(helpLines())
		}
		return k.say(ctx, k.compose(line), asker, show)
	}
	o, err := run(ctx)
	if err != nil {
		return err
	}
	k.print(o.lines)
	for _, m := range o.path {
		k.print(strings.Split("> "+m.Get("role").String()+" "+place(m)+"\n"+output.Harmless(textOf(m)), "\n"))
	}
	if o.input != "" {
		k.Note("%s", locale.T("the next line takes the place of this one:"))
		k.print(strings.Split(output.Harmless(o.input), "\n"))
	}
	if o.send != nil {
		return k.say(ctx, *o.send, asker, show)
	}
	return nil
}

func (k *talk) print(lines []string) {
	for _, line := range lines {
		_, _ = io.WriteString(k.Out, line+"\n") // who does not read it goes on
	}
}

// say has a message answered and printed.
func (k *talk) say(ctx context.Context, m message, asker conversation.Asker, show *conversation.Printer) error {
	end, err := k.answer(ctx, m, asker, func(text string) { k.Note("%s", text) }, show.Event)
	show.End()
	if err != nil {
		return conversation.NoModel(ctx, k.Program, k.flags.model, err)
	}
	return conversation.Ended(end)
}

// found says, where no provider of models is set up, what this machine has.
func (k *talk) found(ctx context.Context) string {
	if text := conversation.FoundHere(ctx, k.Program); text != "" {
		return text + "\n" + locale.T("Until then /help lists your tools, and /TOOL ACTION runs an action.")
	}
	return ""
}
