// Package cli is the face that people see in a terminal: one file a command. [Main] runs
// one command line and returns the exit code.
//
// Results go to stdout and everything else to stderr. Each command that can be read by
// programs takes --json.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/tool"
)

// program is what the commands of one run share.
type program struct {
	version string
	in      io.Reader
	out     io.Writer
	err     io.Writer
	env     config.Env

	home     string
	files    []string
	logLevel string
	json     bool
	debug    bool // --debug
	local    bool // --local: no running gateway is asked

	kernel  app.KernelFlags // --connection, --url and --token
	notes   bool            // the command is about a SiYuan tool
	workDir string          // see [app.Options]; set for the tool "file" only

	tty func() (io.ReadWriteCloser, error) // opens the terminal for confirm; nil opens the real one

	saveTo string // --save: the file for pictures of a result

	expanded     bool     // "call" was put before the command line
	commandNames []string // for suggestions
}

// Main runs a command line and returns its exit code: 0 ok, 1 the call failed, 2 usage, 3
// unreachable, 4 denied, 5 not confirmed, 6 partial, and 128 more than the number of the
// signal that ended it.
func Main(version string, args []string, in io.Reader, out, errw io.Writer) int {
	// A third of a merging gateway's time was seen to go to the garbage collector: it runs
	// less often while there is little garbage.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
	p := &program{version: version, in: in, out: out, err: errw, env: config.FromOS()}
	ctx, interrupted, stop := untilSignal()
	defer stop()
	root := p.tree()
	root.SetArgs(p.expandCompletion(root, p.expand(root, args)))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	if err := root.ExecuteContext(ctx); err != nil {
		code := p.report(err)
		if s := interrupted(); s != 0 {
			return bySignal + s
		}
		return code
	}
	return 0
}

// bySignal is added to the number of the signal that ended a command, as shells do it: 130 after
// Ctrl-C.
const bySignal = 128

// untilSignal is a context that ends with the first signal to stop. interrupted is its number, 0
// before it came.
func untilSignal() (ctx context.Context, interrupted func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, number := make(chan os.Signal, 1), new(atomic.Int32)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with ctx
		select {
		case s := <-signals:
			if n, ok := s.(syscall.Signal); ok {
				number.Store(int32(n)) //nolint:gosec // signals have small numbers
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() int { return int(number.Load()) }, func() {
		signal.Stop(signals)
		cancel()
	}
}

// frugal fits the processors in use to what calls need, once a gateway stands: it works between
// programs of the same machine, which get at least half of those there are. The start itself takes
// them all. The caller calls done.
func (p *program) frugal(a *app.App, fit *fitting) (done func()) {
	if _, set := p.env.Lookup("GOMAXPROCS"); set {
		return func() {}
	}
	now := process.FitProcessors(process.Allowed() / 2)
	fit.Store(now)
	calls := a.Events.SubscribeTo(1, func(*tool.CallDone) bool {
		now.Begin()
		return false // it is enough to have been asked
	})
	return func() {
		calls.Close()
		now.Close()
	}
}

// fitting holds the processors of a gateway, nil while it starts.
type fitting struct {
	atomic.Pointer[process.Processors]
}

// computes hears of what may compute for long.
func (f *fitting) computes() { f.Load().Compute() }

// memoryLimit makes the garbage collector work harder before memory becomes much.
const memoryLimit = 96 << 20

// root is the command that the others hang from, with the flags of all of them.
func (p *program) root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use: "collie", Version: p.version,
		Short: "All your MCP servers behind one endpoint",
		Long: "Collie stands between those who call tools and the tools they call: it joins your MCP\n" +
			"servers behind one endpoint, checks and records every call, and cleans up after them. Your\n" +
			"notes are tools too: those in your SiYuan, or in a vault that needs no other program. Each tool\n" +
			"is also a command: collie tools lists them.",
		Example: "  collie mcp add everything -- npx -y @modelcontextprotocol/server-everything\n" +
			"  collie everything echo --message hello\n" +
			"  collie siyuan init\n  collie fs tree /",
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		Args:              cobra.NoArgs,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.home, "home", "", "keep everything in `DIR` instead of the XDG folders")
	flags.StringArrayVar(&p.files, "config", nil, "read settings from `FILE` (repeatable, the last one wins)")
	flags.StringVar(&p.logLevel, "log-level", "", "debug, info, warn or error (default warn)")
	flags.BoolVar(&p.debug, "debug", false, "show on stderr what is asked and answered, with times, and the log at level debug")
	flags.BoolVar(&p.json, "json", false, "answer in JSON, for programs")
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(commands...)
	wordsAreUsage(root)
	p.fitHelp(root)
	return root
}

// elsewhere are flags that other programs have for what one of ours does.
var elsewhere = map[string][]string{
	"http": {"port", "listen", "addr", "address", "host", "bind"}, "config": {"settings", "config-file"}, "json": {"output", "format"},
	"log-level": {"verbose", "v", "loglevel"}, "home": {"dir", "data-dir"}, "yes": {"force", "y"},
}

// wrongFlag is the mistake of a flag that a command does not have, or not so, with the one that was
// probably meant.
func wrongFlag(c *cobra.Command, err error) error {
	near := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			known = append(known, "--"+f.Name)
			if slices.Contains(elsewhere[f.Name], unknown.GetSpecifiedName()) {
				near = "; did you mean --" + f.Name + "?"
			}
		})
		near = first(near, didYouMean("--"+unknown.GetSpecifiedName(), known))
	}
	return usage("%v%s; see %s --help", err, near, c.CommandPath())
}

// wordsAreUsage makes too many words on a command line, and flags that do not go together, a mistake
// of usage, as a wrong flag is.
func wordsAreUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				err = c.ValidateFlagGroups() // flags that exclude each other
			}
			if err != nil {
				return usage("%v; see %s --help", err, c.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wordsAreUsage(sub)
	}
}

// usageError is a mistake in the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// usage makes a usageError.
func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// load reads the settings. Warnings are shown; errors are what Load returns.
func (p *program) load() (*config.Config, error) {
	cfg, err := config.Load(p.options())
	if err != nil {
		if bad, ok := errors.AsType[*config.Error](err); ok {
			return cfg, bad
		}
		return nil, unreadable(err)
	}
	return cfg, nil
}
