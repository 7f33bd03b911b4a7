package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/tool"
)

type connectFlags struct {
	print, force        bool
	noWarm              bool
	name, profile, file string
}

func (p *program) connectCommand() *cobra.Command {
	var f connectFlags
	c := &cobra.Command{
		Use: "connect CLIENT", Short: "Write this gateway into the settings of an MCP client", Args: cobra.MaximumNArgs(1),
		Long: "Writes \"collie stdio\" into the settings of a client, with the --home and --config that it\n" +
			"has itself, and says what to do next. Comments stay; the old file is kept as FILE.bak. No\n" +
			"token gets into a foreign file. Servers whose tools nobody has seen are started once to learn\n" +
			"them, so that the client's first session has them all.\n\nClients: " + strings.Join(clientNames(), ", "),
		ValidArgs: clientNames(),
		RunE:      func(c *cobra.Command, args []string) error { return p.connect(c.Context(), args, &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.print, "print", false, "only show what would be written")
	flags.BoolVar(&f.force, "force", false, "replace another server of the same name")
	noWarmFlag(c, &f.noWarm)
	flags.StringVar(&f.name, "name", "collie", "be called `NAME` in the client")
	flags.StringVar(&f.profile, "profile", "", "show the client the tools of view profile `NAME`")
	flags.StringVar(&f.file, "file", "", "write `FILE` instead of the client's usual one")
	return c
}

func clientNames() []string {
	var names []string
	for _, c := range app.Clients() {
		names = append(names, c.Name)
	}
	return names
}

func (p *program) connect(ctx context.Context, args []string, f *connectFlags) error {
	if len(args) == 0 {
		return usage("which client? collie connect %s", strings.Join(clientNames(), "|"))
	}
	cfg, wrong, err := p.settings()
	if err != nil {
		return err
	}
	if err := knownProfile(cfg, f.profile); err != nil {
		return err
	}
	o := app.ConnectOptions{Name: f.name, Command: p.path(), File: f.file, Force: f.force}
	if o.Command == "" {
		return &tool.Error{Op: "connect", Kind: tool.Internal, Message: "the path of this program is not known"}
	}
	if o.Args, err = p.stdioArgs(f.profile); err != nil {
		return err
	}
	plan, err := app.Connect(args[0], p.env, o)
	if err != nil {
		return nearClient(args[0], err)
	}
	if err := p.applied(ctx, cfg, plan, f); err != nil {
		return err
	}
	switch {
	case wrong != nil:
		p.warn("the settings have errors, so that the client could not start it: collie mcp validate shows them")
	case len(cfg.Servers) == 0 && !app.NotesOffered(cfg, p.env, app.KernelFlags{}):
		p.note("no MCP server is configured yet; collie mcp add NAME -- COMMAND adds one")
	case !f.print && !f.noWarm:
		p.learnNew(ctx)
	}
	return nil
}

// applied makes the change, unless it is only to be shown, and tells about it.
func (p *program) applied(ctx context.Context, cfg *config.Config, plan *app.Connection, f *connectFlags) error {
	write := plan.Changed && !f.print
	if write {
		if _, err := os.Stat(filepath.Dir(plan.File)); err != nil && f.file == "" {
			p.warn("%s does not seem to be installed: there was no folder %s", plan.Client.Title, filepath.Dir(plan.File))
		}
		if err := plan.Apply(); err != nil {
			return err
		}
		p.onRecord(ctx, cfg, "connect", map[string]any{"client": plan.Client.Name, "file": plan.File, "name": f.name})
	}
	if p.json {
		return p.printJSON(map[string]any{
			"client": plan.Client.Name, "file": plan.File, "path": plan.Path, "entry": plan.Entry,
			"changed": plan.Changed, "written": write, "next": plan.Next,
		})
	}
	text := plan.String()
	switch {
	case write:
		text += "done. " + plan.Next + "\n"
	case plan.Changed:
		text += "nothing was written (--print)\n"
	}
	_, err := fmt.Fprint(p.out, text)
	return err
}

// stdioArgs make this program serve as it was called now: the client has neither our flags
// nor, often, our environment.
func (p *program) stdioArgs(profile string) ([]string, error) {
	args := []string{"stdio"}
	home, files := first(p.home, p.env.Get("COLLIE_HOME")), p.files
	if env := p.env.Get("COLLIE_CONFIG"); len(files) == 0 && env != "" {
		files = []string{env}
	}
	add := func(flag, path string) error {
		abs, err := filepath.Abs(path)
		args = append(args, flag, abs)
		return err
	}
	if home != "" {
		if err := add("--home", home); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if err := add("--config", file); err != nil {
			return nil, err
		}
	}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	return args, nil
}

// path is the one under which a client should start this program: the one that PATH
// finds, if it leads here, since that outlives an update.
func (p *program) path() string {
	if found, ok := p.inPath(); ok {
		return found
	}
	return self()
}

// inPath is where PATH finds this program, if it does.
func (p *program) inPath() (found string, ok bool) {
	found, err := process.Resolve("collie", p.env.List(), "")
	if err != nil {
		return "", false
	}
	target, err := filepath.EvalSymlinks(found)
	return found, err == nil && target == self()
}

// nearClient makes a mistake of usage out of the name of a client that nobody knows.
func nearClient(name string, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Unknown {
		near := didYouMean(name, clientNames())
		if near != "" {
			near += " "
		} else {
			near = "; "
		}
		return usage("there is no client %q%sknown are %s", name, near, strings.Join(clientNames(), ", "))
	}
	return err
}
