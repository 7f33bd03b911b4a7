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
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
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
	local    bool // --local: no running gateway is asked

	kernel  app.KernelFlags // --connection, --url and --token
	notes   bool            // the command is about a SiYuan tool
	workDir string          // see [app.Options]; set for the tool "file" only

	tty func() (io.ReadWriteCloser, error) // opens the terminal for confirm; nil opens the real one

	expanded     bool     // "call" was put before the command line
	commandNames []string // for suggestions
}

// Main runs a command line and returns its exit code: 0 ok, 1 the call failed, 2 usage, 3
// unreachable, 4 denied, 5 not confirmed, 6 partial.
func Main(version string, args []string, in io.Reader, out, errw io.Writer) int {
	// A third of a merging gateway's time was seen to go to the garbage collector: it runs
	// less often while there is little garbage.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
	p := &program{version: version, in: in, out: out, err: errw, env: config.FromOS()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := p.root()
	root.SetArgs(p.expand(root, args))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	if err := root.ExecuteContext(ctx); err != nil {
		return p.report(err)
	}
	return 0
}

// frugal halves the processors in use once a gateway stands: it works between programs of the
// same machine and mostly waits for them, and wakes fewer threads for nothing so. On two
// processors that was a quarter less processor time for one client and a sixth for sixteen, at
// no fewer calls a second. The start itself takes all there are.
func (p *program) frugal() {
	if _, set := p.env.Lookup("GOMAXPROCS"); !set {
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	}
}

// memoryLimit makes the garbage collector work harder before memory becomes much.
const memoryLimit = 96 << 20

// root is the command tree.
func (p *program) root() *cobra.Command {
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
	flags.BoolVar(&p.json, "json", false, "answer in JSON, for programs")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{fmt.Sprintf("%v; see %s --help", err, c.CommandPath())}
	})
	for _, c := range p.commands() {
		root.AddCommand(c)
	}
	wordsAreUsage(root)
	return root
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
