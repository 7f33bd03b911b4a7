// Package root has what all commands share: the running program, its settings and its log; how a command
// finds the running gateway or works without one; how it asks a person; and how it ends.
package root

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collie/internal/app"
	"collie/internal/arguments"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// Program is the state that all commands of one run share.
type Program struct {
	output.Output
	Version string
	In      io.Reader

	Home     string
	Files    []string
	LogLevel string
	Debug    bool // --debug
	Local    bool // --local: do not use a running gateway

	Kernel  app.KernelFlags // --connection, --url and --token
	Notes   bool            // the command is about a SiYuan tool
	WorkDir string          // see [app.Options]; set for the tool "file" only

	TTY func() (io.ReadWriteCloser, error) // opens the terminal for confirm; nil means the real one

	Calls bool // the command calls an action

	SaveTo string // --save: the file for images in a result

	Expanded     bool     // "call" was inserted into the command line
	CommandNames []string // for suggestions
}

// Root returns the root command with the flags that all commands have. The group id of a command is the title under
// which the help lists it. The titles come in the order of their first commands; the commands for help and completion
// are listed under the last one.
func (p *Program) Root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use: "collie", Version: p.Version,
		Short: "All your MCP servers behind one endpoint",
		Long: "Collie is a gateway between those who call tools and the tools they call: it puts your MCP\n" +
			"servers behind one endpoint, checks and records every call, and cleans up after them. Your\n" +
			"notes are tools too, in SiYuan or in a built-in vault that needs no other program. Every tool\n" +
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
	flags.StringVar(&p.Home, "home", "", "keep everything in `DIR` instead of the XDG folders")
	flags.StringArrayVar(&p.Files, "config", nil, "read settings from `FILE` (repeatable, the last one wins)")
	flags.StringVar(&p.LogLevel, "log-level", "", "debug, info, warn or error (default warn)")
	flags.BoolVar(&p.Debug, "debug", false, "show requests and responses with times, and the debug log, on stderr")
	flags.Var(&jsonFlag{&p.JSON}, "json", "answer in JSON, for programs")
	flags.Lookup("json").NoOptDefVal = "true"
	root.SetFlagErrorFunc(wrongFlag)
	for _, c := range commands {
		if c.GroupID != "" && !root.ContainsGroup(c.GroupID) {
			root.AddGroup(&cobra.Group{ID: c.GroupID, Title: c.GroupID})
			root.SetHelpCommandGroupID(c.GroupID)
			root.SetCompletionCommandGroupID(c.GroupID)
		}
	}
	root.AddCommand(commands...)
	makeUsageErrors(root)
	translate(root)
	p.fitHelp(root)
	return root
}

// jsonFlag is --json. It sets the language to English, which programs expect.
type jsonFlag struct{ on *bool }

func (f *jsonFlag) String() string { return strconv.FormatBool(f.on != nil && *f.on) }
func (f *jsonFlag) Type() string   { return "bool" }

func (f *jsonFlag) Set(s string) (err error) {
	if *f.on, err = strconv.ParseBool(s); *f.on {
		locale.Use(nil)
	}
	return err
}

// foreignFlags maps Collie's flags to the names that other programs use for the same, for
// suggestions.
var foreignFlags = map[string][]string{
	"http": {"port", "listen", "addr", "address", "host", "bind"}, "config": {"settings", "config-file"}, "json": {"output", "format"},
	"log-level": {"verbose", "v", "loglevel"}, "home": {"dir", "data-dir"}, "yes": {"force", "y"},
}

// wrongFlag returns the usage error for an unknown or misused flag, with the flag that was probably meant.
func wrongFlag(c *cobra.Command, err error) error {
	near := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			known = append(known, "--"+f.Name)
			if slices.Contains(foreignFlags[f.Name], unknown.GetSpecifiedName()) {
				near = locale.Sprintf("; did you mean --%s?", f.Name)
			}
		})
		near = output.FirstNonEmpty(near, DidYouMean("--"+unknown.GetSpecifiedName(), known))
	}
	return Usage("%v%s; see %s --help", err, near, c.CommandPath())
}

// makeUsageErrors makes wrong arguments, and flags that exclude each other, usage errors of c and its subcommands.
func makeUsageErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				err = c.ValidateFlagGroups() // flags that exclude each other
			}
			if err != nil {
				return Usage("%v; see %s --help", err, c.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		makeUsageErrors(sub)
	}
}

// usageError is an error in the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// Usage returns a [usageError].
func Usage(format string, args ...any) error { return &usageError{locale.Sprintf(format, args...)} }

// AsUsage turns an [arguments.Error] into a [usageError] and returns all other errors unchanged.
func AsUsage(err error) error {
	if mistake, ok := errors.AsType[*arguments.Error](err); ok {
		return &usageError{mistake.Error()}
	}
	return err
}

// Load reads the settings. If the files have errors, the error is a [config.Error], and the result holds what could be
// read.
func (p *Program) Load() (*config.Config, error) {
	cfg, err := config.Load(p.Options())
	if err != nil {
		if bad, ok := errors.AsType[*config.Error](err); ok {
			return cfg, bad
		}
		return nil, unreadableSettings(err)
	}
	return cfg, nil
}

// fitHelp makes the help of commands fit the terminal's width and language.
func (p *Program) fitHelp(root *cobra.Command) {
	width := p.ProseWidth()
	if width == 0 && locale.English() {
		return
	}
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		var b bytes.Buffer
		c.Long = output.Paragraphs(c.Long, width)
		c.SetOut(&b)
		show(c, args)
		c.SetOut(p.Out)
		page := translateHelp(b.String())
		_, _ = io.WriteString(p.Out, output.WrapSecondColumn(page, output.TerminalWidth(p.Out))) // if that fails, nobody can be told
	})
}
