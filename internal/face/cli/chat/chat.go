// Package chat implements collie chat: a conversation with a model in a terminal. Like the other commands for
// conversations it uses the gateway's API. It has a full-screen user interface and a plain line-by-line one.
package chat

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// flags are the flags and arguments of the command line.
type flags struct {
	session, model, agent string
	last, plain           bool
	message               string // sent at once; empty for none
}

// Command returns the command `collie chat`.
func Command(p *root.Program) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use: "chat [MESSAGE]", Short: "Talk with a model that works with your tools", Args: cobra.ArbitraryArgs,
		Long: "Opens a conversation in this terminal, and sends MESSAGE at once. The model may call your tools; before\n" +
			"one changes anything you are asked. What begins with / is a command: /help lists them, and /TOOL ACTION\n" +
			"runs an action without any model. Ctrl-C ends an answer, twice it leaves; what you were typing is kept\n" +
			"for --continue.",
		Example: "  collie chat\n  collie chat \"what did I plan for today?\"\n  collie chat --continue\n  collie chat --model openai/gpt-5 --plain",
		RunE: func(c *cobra.Command, args []string) error {
			f.message = strings.TrimSpace(strings.Join(args, " "))
			return run(c.Context(), p, &f)
		},
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

// run runs the plain interface with --plain or without a capable terminal, otherwise the full-screen one.
func run(ctx context.Context, p *root.Program, f *flags) error {
	if p.JSON {
		return root.Usage("chat is for people; for programs there is %s", p.Typed("agent run --json"))
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	p.Calls = true
	k := &talk{Program: p, flags: f, drafts: draftsIn(cfg.Paths.State), overrides: map[string]any{}, usual: cfg.Agent.Model}
	if f.model != "" {
		k.overrides["model"] = f.model
	}
	if f.plain || p.Env.Get("TERM") == "dumb" || !output.IsTerminal(p.In) || !output.IsTerminal(p.Out) {
		return k.runPlain(ctx)
	}
	return k.draw(ctx)
}

// talk is a conversation, shared by both user interfaces.
type talk struct {
	*root.Program
	flags  *flags
	drafts drafts

	api *conversation.API

	beginning sync.Mutex          // held while the session is created
	mu        sync.Mutex          // guards the fields below it, except running
	session   string              // empty until the first message
	overrides map[string]any      // settings that the person chose for the next messages, such as "model"
	answered  string              // model of the last answer
	usual     string              // default model of the settings
	editing   string              // message that the next one replaces
	tools     map[string][]string // actions by tool, once they are known
	prompts   []prompt            // prompts of all servers, once they are known
	resources []resource
	learntAll bool // all servers have reported their tools, or failed
	choices   choices
	walk      []string // files below the current folder, as last listed
	walked    time.Time

	running atomic.Int32 // number of unfinished answers
}

// id returns the id of the session.
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

// open connects to the API and finds the session to continue. The caller closes the result.
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

// ensureSession returns the id of the session. It creates the session if there is none yet.
func (k *talk) ensureSession(ctx context.Context) (string, error) {
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

// runPlain runs the line-by-line user interface: it reads a line, prints the answer, and repeats until the input ends.
func (k *talk) runPlain(ctx context.Context) error {
	var ctrlC interrupts
	if output.IsTerminal(k.In) {
		var done func()
		ctx, done = ctrlC.begin(ctx)
		defer done()
	}
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
	for first := k.flags.message; ; first = "" {
		line := first
		if line == "" {
			if output.IsTerminal(k.In) {
				_, _ = io.WriteString(k.Err, "> ")
			}
			line, err = asker.Line(ctx)
		}
		if errors.Is(err, io.EOF) || ctx.Err() != nil && output.IsTerminal(k.In) {
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
		stopped, err := ctrlC.run(ctx, func(ctx context.Context) error { return k.line(ctx, line, asker, show) })
		switch {
		case stopped:
			k.Note("%s", locale.T("stopped"))
		case err != nil && (ctx.Err() != nil || !output.IsTerminal(k.In)):
			return err
		case err != nil:
			text, hint := root.TextAndHint(err)
			k.Warn("%s", text)
			if hint != "" {
				k.Note("%s", hint)
			}
		}
	}
}

// line runs a command or sends a message, and prints the result.
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
		k.print(strings.Split("> "+m.Get("role").String()+" "+siblingPosition(m)+"\n"+output.Harmless(textOf(m)), "\n"))
	}
	if o.copied != "" { // the clipboard cannot be set, so the text is printed
		k.print(strings.Split(o.copied, "\n"))
	}
	if o.input != "" && !o.draft {
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
		_, _ = io.WriteString(k.Out, line+"\n") // the person may stop reading
	}
}

// say sends a message and prints the answer.
func (k *talk) say(ctx context.Context, m message, asker conversation.Asker, show *conversation.Printer) error {
	end, err := k.answer(ctx, m, asker, func(text string) { k.Note("%s", text) }, show.Event)
	show.End()
	if err != nil {
		return conversation.NoModel(ctx, k.Program, k.flags.model, err)
	}
	return conversation.EndError(end)
}

// localProvidersText returns a text about model providers on this machine if none is configured, otherwise "".
func (k *talk) localProvidersText(ctx context.Context) string {
	if text := conversation.FoundHere(ctx, k.Program); text != "" {
		return text + "\n" + locale.T("Until then /help lists your tools, and /TOOL ACTION runs an action.")
	}
	return ""
}
