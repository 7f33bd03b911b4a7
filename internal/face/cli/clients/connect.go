// Package clients has the commands that read and write settings of other programs: connect, mcp import and
// mcp export.
package clients

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/learn"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// connectFlags are the flags of `collie connect`.
type connectFlags struct {
	dry, force, noWarm          bool
	move, restore, remove, list bool
	withTheNotes, withoutNotes  bool
	name, profile, file         string
	secrets                     string
	http                        bool
	tokenEnv                    string
}

// ConnectCommand returns the command `collie connect`.
func ConnectCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f connectFlags
	c := &cobra.Command{
		Use: "connect CLIENT", Short: "Add this gateway to the settings of an MCP client", Args: cobra.MaximumNArgs(1),
		Long: "Writes \"collie stdio\" into a client's settings, with the --home and --config of this command, and\n" +
			"says what to do next. Comments stay, and the old file is kept as FILE.bak. Servers whose tools are\n" +
			"not known yet are started once to learn them, so that the client's first session has them all.\n\n" +
			"A server that both the client and Collie start would appear twice. --move imports the client's own\n" +
			"servers, as mcp import does, and removes them from its file; --restore puts them back, and\n" +
			"--remove removes Collie. If nobody has changed the file since, it is then byte for byte what it\n" +
			"was.\n\n" +
			"--http makes a named token for the client instead, held to --profile if that is given, and writes\n" +
			"it with the gateway's address into the client's file, which nobody else may read then; --remove\n" +
			"revokes it. Without --http no token is written.\n\n" +
			"Clients: " + strings.Join(clientNames(), ", "),
		Example: "  collie connect claude-code\n  collie connect cursor --move --dry-run\n" +
			"  collie connect cursor --restore --remove\n  collie connect --list",
		ValidArgs: clientNames(),
		RunE:      func(c *cobra.Command, args []string) error { return p.connect(c.Context(), args, &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.list, "list", false, "show where Collie is connected")
	flags.BoolVar(&f.move, "move", false, "import the client's own servers and remove them from its file")
	flags.BoolVar(&f.restore, "restore", false, "put back what --move took out")
	flags.BoolVar(&f.remove, "remove", false, "remove Collie from the client's file")
	flags.BoolVar(&f.withTheNotes, "notes", false, "let the client have the tools for notes (default, asked at a terminal)")
	flags.BoolVar(&f.withoutNotes, "no-notes", false, "keep the tools for notes from the client")
	flags.BoolVar(&f.dry, "dry-run", false, "only show what would be written")
	flags.BoolVar(&f.dry, "print", false, "the same as --dry-run")
	flags.BoolVar(&f.force, "force", false, "replace another server of the same name")
	learn.NoWarmFlag(c, &f.noWarm)
	flags.StringVar(&f.name, "name", "collie", "use `NAME` for Collie in the client")
	flags.StringVar(&f.profile, "profile", "", "show the client the tools of view profile `NAME`")
	flags.StringVar(&f.file, "file", "", "write `FILE` instead of the client's usual one")
	flags.StringVar(&f.secrets, "secrets", "ask", "with --move: do `WHAT` with secrets found as text: keyring, keep or ask")
	root.CompleteWith(c, "secrets", "keyring", "keep", "ask")
	flags.BoolVar(&f.http, "http", false, "have the client ask the gateway over HTTP, with a token of its own")
	flags.StringVar(&f.tokenEnv, "token-env", "", "with --http: write the variable `NAME` into the file instead of the token, which is printed")
	c.MarkFlagsMutuallyExclusive("notes", "no-notes")
	c.MarkFlagsMutuallyExclusive("http", "move")
	for _, back := range []string{"restore", "remove"} {
		for _, to := range []string{"http", "token-env", "move", "notes", "no-notes", "profile", "force"} {
			c.MarkFlagsMutuallyExclusive(back, to)
		}
	}
	return c
}

func clientNames() []string {
	var names []string
	for _, c := range hostadmin.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// connect checks the flags of `collie connect` and does what they ask for: list the clients, disconnect a client, or
// connect it.
func (p commands) connect(ctx context.Context, args []string, f *connectFlags) error {
	switch {
	case f.list && len(args) > 0:
		return root.Usage("--list is about all clients; leave out %s", args[0])
	case f.list:
		return p.connectList()
	case len(args) == 0:
		return root.Usage("which client? collie connect %s", strings.Join(clientNames(), "|"))
	case !slices.Contains(clientNames(), args[0]):
		near := root.DidYouMean(args[0], clientNames())
		return root.Usage("there is no client %q%s known clients: %s", args[0], output.FirstNonEmpty(near, ";"), strings.Join(clientNames(), ", "))
	case f.tokenEnv != "" && !f.http:
		return root.Usage("--token-env is for --http")
	case !slices.Contains([]string{"keyring", "keep", "ask"}, f.secrets):
		return root.Usage("--secrets is %q, expected keyring, keep or ask", f.secrets)
	}
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	if f.restore || f.remove {
		return p.disconnect(ctx, cfg, args[0], f)
	}
	if cfg, err = p.settingsToConnect(ctx, cfg); err != nil {
		return err
	}
	j := &joining{commands: p, connectFlags: f, client: args[0], cfg: cfg}
	if err := j.run(ctx); err != nil {
		return err
	}
	switch {
	case wrong != nil:
		p.Warn("the settings have errors, so the client cannot start it: collie mcp validate shows them")
	case len(j.cfg.Servers) == 0 && !app.NotesOffered(j.cfg, p.Env, app.KernelFlags{}):
		p.Note("no MCP server is configured yet; collie mcp add NAME -- COMMAND adds one")
	case !f.dry && !f.noWarm:
		learn.Unseen(ctx, p.Program)
	}
	return nil
}

// settingsToConnect returns the settings that a client should use. If a gateway runs with other settings, a person at a
// terminal is asked which ones. Without a terminal, or if the command line names files or the gateway has another
// version, it prints a warning and returns cfg.
func (p commands) settingsToConnect(ctx context.Context, cfg *config.Config) (*config.Config, error) {
	g, sameSettings, err := p.FindGateway(ctx, cfg)
	if err != nil || sameSettings {
		return cfg, nil //nolint:nilerr // no gateway is running, and one may be started later
	}
	o := p.Options()
	if named, err := o.Named(); err != nil || named != nil || len(g.Settings) == 0 || g.Version != p.Version || !p.CanAsk() {
		p.Warn("%s", p.OtherGateway(&g, cfg))
		return cfg, nil //nolint:nilerr // settings without a name cannot be compared
	}
	yes, err := p.AskYesNo(ctx, locale.Sprintf("The running gateway (pid %d) uses other settings:%s\nConnect the client to those?", g.PID, root.AsFlags(g.Settings)), true)
	if err != nil || !yes {
		return cfg, err
	}
	p.Files = g.Settings
	now, _, err := p.Settings()
	return now, err
}
