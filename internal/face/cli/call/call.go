// Package call has the commands that make calls, list what can be called, and confirm calls that wait for a person: call,
// tools and confirm.
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/arguments"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// commands holds the commands of this folder, which share one program.
type commands struct{ *root.Program }

// callFlags are the flags of `collie call`, apart from those that are fields of the program.
type callFlags struct {
	args, profile string
	timeout       time.Duration
	yes           bool
}

// Command returns the command `collie call`.
func Command(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f callFlags
	c := &cobra.Command{
		Use:   "call TOOL ACTION [--flag value …]",
		Short: "Call one action of a tool",
		Long: "Calls one action of a tool and prints its result. The flags of the action come from its\n" +
			"schema: collie call TOOL ACTION --help shows them. TOOL/ACTION and the name that MCP\n" +
			"clients see work as well, and so does collie TOOL ACTION, unless TOOL is a command of its own.\n\n" +
			"  --key value          any spelling of the name: --parent-id, --parentId, --parent_id\n" +
			"  --key, --no-key      true and false\n" +
			"  --key a,b --key c    several items; \\, is a comma in one\n" +
			"  --key @FILE, --key - a text from a file or from stdin; @@x is the text @x\n" +
			"  --key-json JSON      any value as JSON\n" +
			"  -- --key value       a flag of the action that has the name of one below\n\n" +
			"A pipe or a file gets the text of a result as the tool wrote it; on a terminal, control characters\n" +
			"in it have no effect.\n\n" +
			"SiYuan tools also take their main arguments without a flag, in the order of their help page, and\n" +
			"accept synonyms: ls and list, mv and move, rm, remove and delete.",
		Example: "  collie call everything echo --message hello\n" +
			"  collie everything get-sum --a 1 --b 2 --json\n" +
			"  collie fs read /Notes/Plan",
		DisableFlagParsing: true, ValidArgsFunction: p.completeCall,
	}
	flags := c.Flags()
	flags.StringVar(&f.args, "args", "", "the arguments as a `JSON` object, @FILE or - for stdin; flags are put into it")
	flags.StringVar(&f.profile, "profile", "", "see the tools as view profile `NAME` does")
	flags.StringVar(&p.SaveTo, "save", "", "write pictures, sound and files in the result to `FILE`")
	flags.DurationVar(&f.timeout, "timeout", 0, "give up after `DURATION`, such as 30s")
	flags.BoolVar(&f.yes, "yes", false, "confirm a dangerous action without being asked; anyone with a shell on your account can type it too")
	p.LocalFlag(c)
	p.KernelFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		inv, err := split(c, args)
		if err != nil {
			return err
		}
		inv.words = splitOwnAction(inv.words)
		switch {
		case len(inv.words) == 0 && (inv.help || len(inv.rest) == 0):
			return c.Help()
		case len(inv.words) == 0:
			return root.Usage("which tool? usage: collie %s", c.Use)
		case asksForHelp(inv.words): // TOOL help [ACTION]
			action := inv.words[2:min(len(inv.words), 3)]
			return p.tools(c.Context(), slices.Concat(inv.words[:1], action), &toolsFlags{profile: f.profile})
		case inv.help: // TOOL [ACTION] --help
			return p.tools(c.Context(), inv.words[:min(len(inv.words), 2)], &toolsFlags{profile: f.profile})
		}
		return p.call(c.Context(), c, inv, &f)
	}
	return c
}

// call runs `collie call`: it finds the action that the words name, makes arguments of its flags, sends the call through
// the pipeline and prints the result.
func (p commands) call(ctx context.Context, c *cobra.Command, inv invocation, f *callFlags) error {
	if f.timeout < 0 {
		return root.Usage("--timeout is %v, expected a duration such as 30s", f.timeout)
	}
	untimed := ctx
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, &tool.Error{
			Op: "call", Kind: tool.Timeout, Subject: strings.Join(inv.words, " "),
			Message: fmt.Sprintf("no answer within --timeout %v", f.timeout),
		})
		defer cancel()
	}
	p.Calls = true // so that the backend is opened for a call
	target, b, err := p.openTarget(ctx, inv.words, f.profile)
	if err != nil {
		return explainGivingUp(ctx, untimed, err)
	}
	defer b.Close()
	command := "collie " + strings.Join(target.words, " ")
	stdin := p.stdinOnce()
	args, err := p.arguments(c, inv.rest, &target, f.args, command, stdin)
	if err != nil {
		return err
	}
	caller, err := NewCaller(p.Program, target.words[0], f.yes)
	if err != nil {
		return err
	}
	params, _ := arguments.ForAction(target.action, target.schema)
	args, err = p.replaceNotebookNames(ctx, b, &target, params, args)
	if err != nil {
		return explainGivingUp(ctx, untimed, err)
	}
	d, err := p.debugger()
	if err != nil {
		return err
	}
	call := tool.Request{
		Kind: tool.KindCall, Name: target.name, Args: args, Profile: f.profile,
		Origin: tool.Direct, Principal: root.Principal(), Client: "collie call", Caller: caller,
	}
	call.Trace = d.trace()
	d.request(b, call)
	result, err := b.Call(ctx, call)
	caller.Done()
	d.answer(result, err)
	if err != nil {
		err = explainGivingUp(ctx, untimed, err)
		if e, ok := errors.AsType[*tool.Error](err); ok && target.action != nil && target.action.ReadOnly {
			e.OutcomeUnknown = false // it changes nothing, whatever became of it
		}
		return nameFlags(err, command, params, target.isOurs())
	}
	if target.isOurs() {
		return p.showResult(ctx, b, &target, args, result)
	}
	return p.show(result)
}

// asksForHelp reports whether words have the form "TOOL help [ACTION]" for one of our own tools, which models
// tend to type.
func asksForHelp(words []string) bool {
	if len(words) < 2 || words[1] != "help" {
		return false
	}
	_, ours := app.NotesTool(words[0])
	return ours
}

// openTarget opens the backend and finds what words name. The caller closes b.
func (p commands) openTarget(ctx context.Context, words []string, profile string) (namedTarget, root.Backend, error) {
	b, err := p.openFor(ctx, words, profile)
	if err != nil {
		return namedTarget{}, nil, err
	}
	stop := p.WhileStarting(ctx, b)
	target, err := p.find(ctx, b, words, profile)
	stop()
	if l, isLocal := b.(*root.Local); err == nil && isLocal && target.isOurs() {
		err = l.App.Notes.AwaitToolConfig(ctx)
	}
	if err != nil {
		b.Close()
		return namedTarget{}, nil, err
	}
	return target, b, nil
}

// openFor opens a backend with the servers that may own the tool that words name; all servers if there are no
// words.
func (p commands) openFor(ctx context.Context, words []string, profile string) (root.Backend, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	if err := root.KnownProfile(cfg, profile); err != nil {
		return nil, err
	}
	var owners []string
	p.chooseConnection(cfg, words)
	if len(words) > 0 {
		if owners, err = p.serversFor(ctx, words); err != nil {
			return nil, err
		}
	}
	return p.Backend(ctx, owners)
}

// arguments converts values and flags of the action to the arguments of the call. They are added to the object of --args.
func (p commands) arguments(
	c *cobra.Command, tokens []string, target *namedTarget, args, command string, stdin func() ([]byte, error),
) (json.RawMessage, error) {
	f := &arguments.Reader{Command: command, Globals: hasFlag(c, target.words), File: os.ReadFile, Stdin: stdin, Sprintf: locale.Sprintf}
	f.Params, f.Positional = arguments.ForAction(target.action, target.schema)
	tokens = append(target.values, tokens...)
	var start json.RawMessage
	if c.Flag("args").Changed {
		text, err := f.Text("args", args)
		if err != nil {
			return nil, root.AsUsage(err)
		}
		start = json.RawMessage(strings.TrimSpace(text))
		if !json.Valid(start) || start[0] != '{' {
			return nil, root.Usage("--args is not a JSON object; it looks like '{\"key\": \"value\"}'")
		}
	}
	out, err := f.Read(tokens, start)
	return out, root.AsUsage(err)
}

// errStdinTwice is the error for a second flag with the value -, which stands for stdin.
var errStdinTwice = errors.New("stdin can be read once")

// stdinOnce returns a function that reads all of stdin. Its second call fails.
func (p commands) stdinOnce() func() ([]byte, error) {
	read := false
	return func() ([]byte, error) {
		if read {
			return nil, errStdinTwice
		}
		read = true
		return io.ReadAll(p.In)
	}
}

// explainGivingUp returns the error that says that the person has interrupted the command or that --timeout has passed, if
// that is what caused err; else err itself. ctx has the timeout, untimed does not. The new error still says whether the
// outcome of the call is unknown.
func explainGivingUp(ctx, untimed context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	out := tool.Error{Op: "call", Kind: tool.Canceled, Message: "interrupted"}
	if untimed.Err() == nil { // so the time has passed
		cause, ok := errors.AsType[*tool.Error](context.Cause(ctx))
		if !ok {
			return err
		}
		out = *cause
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		out.OutcomeUnknown = e.OutcomeUnknown
		if out.Subject == "" {
			out.Subject = e.Subject
		}
	}
	return &out
}

// nameFlags returns err with the paths of wrong arguments written as flags, such as /parentId as --parent-id. The hint becomes how to
// list the flags of command, unless one of our own actions has given a better one. Missing flags become a usage error.
func nameFlags(err error, command string, params []arguments.Parameter, ours bool) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	out := *e
	action := command[strings.LastIndexByte(command, ' ')+1:]
	if !ours || out.Hint == "" || strings.HasPrefix(out.Hint, action+"(") || e.Kind == tool.Invalid && strings.Contains(out.Hint, `action="help"`) {
		out.Hint = command + " --help shows its flags"
	}
	out.Fields = append([]tool.Field(nil), e.Fields...)
	for i, field := range out.Fields {
		name, rest, _ := strings.Cut(strings.TrimPrefix(field.Path, "/"), "/")
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		for j := range params {
			if params[j].Name == name {
				out.Fields[i].Path = strings.TrimSuffix("--"+params[j].Flag+"/"+rest, "/")
			}
		}
	}
	if err := missingFlagsError(&out, command); err != nil {
		return err
	}
	return &out
}

// missingFlagsError returns a usage error that names the required flags that are missing; nil if anything else is wrong too.
func missingFlagsError(e *tool.Error, command string) error {
	var flags []string
	for _, f := range e.Fields {
		if e.Kind != tool.Invalid || !strings.HasPrefix(f.Path, "--") || !strings.HasPrefix(f.Message, "required argument ") {
			return nil
		}
		flags = append(flags, f.Path)
	}
	if len(flags) > 1 {
		return root.Usage("%s are missing; %s --help shows what it takes", strings.Join(flags, " and "), command)
	}
	return root.Usage("%s is missing; %s --help shows what it takes", flags[0], command)
}
