package mcp

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/learn"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp add`.

// addFlags are the flags of `collie mcp add`.
type addFlags struct {
	url, cwd, transport, json string
	headers, env              []string
	force, noWarm             bool

	// For a server of the registry.
	as, pack string
	inputs   []string
	yes      bool
}

func (p commands) addCommand() *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add [NAME] [URL] [REGISTRY-NAME] [flags] [-- COMMAND ARG…]",
		Short: "Add a server to the settings",
		Long: "Adds a server to the settings: one started by COMMAND, one at a URL, or JSON as web pages show\n" +
			"it, a single entry or several in {\"mcpServers\": {…}}. The entry is checked first, and comments\n" +
			"in the file stay. ${NAME} in values is read from the environment when the server starts, so that\n" +
			"secrets need not be in the file. Servers whose tools are not known yet are then started once to\n" +
			"learn them, for at most 90 seconds.\n\n" +
			"A name with a slash, such as io.github.user/server, is looked up in the MCP registry, where\n" +
			"collie mcp search finds it; NAME@VERSION takes another version than the latest. The version is\n" +
			"pinned, what the server asks for is asked here or given by --env, --header and --input, secrets\n" +
			"are kept like those of collie secret, and what will run is shown before it is added.",
		Example: "  collie mcp add everything -- npx -y @modelcontextprotocol/server-everything\n" +
			"  collie mcp add github https://api.githubcopilot.com/mcp/ --header 'Authorization: Bearer ${GITHUB_TOKEN}'\n" +
			"  collie mcp add --json '{\"command\": \"npx\", \"args\": [\"-y\", \"12306-mcp\"]}'\n" +
			"  collie mcp add io.github.user/weather --env WEATHER_API_KEY=…",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && f.url == "" && f.json == "" && c.ArgsLenAtDash() < 0 && serveradmin.IsRegistryName(args[0]) {
				return p.addFromRegistry(c.Context(), args[0], &f)
			}
			if f.as != "" || f.pack != "" || f.inputs != nil || f.yes {
				return root.Usage("--as, --package, --input and --yes are for a server of the registry: collie mcp add io.github.user/server")
			}
			return p.add(c.Context(), args, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.url, "url", "", "`URL` of a remote server; after NAME it needs no flag")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "send `'Name: value'` with each request (repeatable)")
	flags.StringArrayVarP(&f.env, "env", "e", nil, "give the command the variable `NAME=VALUE` (repeatable)")
	flags.StringVar(&f.cwd, "cwd", "", "start the command in `DIR`")
	flags.StringVarP(&f.transport, "transport", "t", "", "stdio, http or sse, if it cannot be inferred")
	flags.StringVar(&f.transport, "type", "", "the same as --transport")
	flags.StringVar(&f.json, "json", "", "read one or more servers from `JSON`, @FILE or - for stdin")
	flags.BoolVar(&f.force, "force", false, "replace a server of the same name")
	flags.StringVar(&f.as, "as", "", "call a server of the registry `NAME`, instead of the last part of its name")
	flags.StringVar(&f.pack, "package", "", "which of its packages: npm, pypi, oci, or remote for its URL")
	flags.StringArrayVar(&f.inputs, "input", nil, "give a server of the registry the input `NAME=VALUE` (repeatable)")
	flags.BoolVar(&f.yes, "yes", false, "add a server of the registry without asking")
	root.CompleteWith(c, "package", "npm", "pypi", "oci", "remote")
	learn.NoWarmFlag(c, &f.noWarm)
	root.CompleteWith(c, "transport", "stdio", "http", "sse")
	root.CompleteWith(c, "type", "stdio", "http", "sse")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return root.Usage("%v; put a command that has flags of its own after --: collie mcp add NAME -- npx -y PACKAGE", err)
	})
	return c
}

// add adds the servers that the flags or --json describe.
func (p commands) add(ctx context.Context, args []string, f *addFlags) error {
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	servers, err := p.newServers(args, f, filepath.Dir(file))
	if err != nil {
		return err
	}
	return p.write(ctx, cfg, wrong, servers, f)
}

// write adds servers to the settings file and learns their tools. With --force, a server of the same name is replaced in the
// file that defines it.
func (p commands) write(ctx context.Context, cfg *config.Config, wrong *config.Error, servers []config.ServerEntry, f *addFlags) error {
	file := root.SettingsFile(cfg)
	// A server of a project that is not trusted does not block the name.
	cfg.Servers = slices.DeleteFunc(cfg.Servers, func(s config.ServerEntry) bool { return s.Untrusted })
	var names []string
	for _, s := range servers {
		i := slices.Index(root.ServerNames(cfg), s.Name)
		switch {
		case i >= 0 && !f.force:
			return &tool.Error{
				Op: "mcp add", Kind: tool.Invalid, Subject: s.Name,
				Message: "a server of that name is defined already in " + cfg.Servers[i].File, Hint: "--force replaces it",
			}
		case i >= 0:
			file = cfg.Servers[i].File
		}
		names = append(names, s.Name)
	}
	if err := p.checkServers(cfg, servers); err != nil {
		return err
	}
	if err := cfg.Edit(ctx, file, config.Add(servers, f.force)); err != nil {
		return root.NotWrittenError("mcp add", file, err)
	}
	subject := strings.Join(names, ", ")
	if _, err := locale.Fprintf(p.Out, "added %s to %s\n", subject, file); err != nil {
		return err
	}
	if wrong != nil {
		p.Warn("the settings have other errors: collie mcp validate shows them")
	}
	p.RecordChange(ctx, cfg, "mcp add", map[string]any{"servers": names, "file": file})
	if !f.noWarm {
		learn.Unseen(ctx, p.Program)
	}
	p.Note("next: %s shows what it offers", strings.TrimSpace("collie tools "+onlyName(names)))
	return nil
}

// onlyName returns the only one of names, empty if there are several.
func onlyName(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// newServers returns the servers that the command line describes, with their names. Relative paths in their entries are
// relative to base.
func (p commands) newServers(args []string, f *addFlags, base string) ([]config.ServerEntry, error) {
	if f.json == "" {
		return f.fromFlags(args, base)
	}
	if f.url != "" || f.cwd != "" || f.transport != "" || f.headers != nil || f.env != nil || len(args) > 1 {
		return nil, root.Usage("--json says everything; leave out the other flags and the command")
	}
	source, text, err := p.readSnippet(f.json)
	if err != nil {
		return nil, err
	}
	servers, err := config.Snippet(source, base, text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(args) == 1 && len(servers) > 1:
		return nil, root.Usage("the JSON names %d servers; leave out %s", len(servers), args[0])
	case len(args) == 1:
		servers[0].Name = args[0]
	case servers[0].Name == "": // a single entry without a name
		if servers[0].Name = hostadmin.NameFor(servers[0].Raw); servers[0].Name == "" {
			return nil, root.Usage("the entry has no name: collie mcp add NAME --json …")
		}
	}
	return servers, nil
}

// readSnippet returns the JSON that a flag's value stands for, and a name for it in messages.
func (p commands) readSnippet(value string) (name string, text []byte, err error) {
	file, isFile := strings.CutPrefix(value, "@")
	switch {
	case value == "-":
		text, err = io.ReadAll(io.LimitReader(p.In, config.MaxSize+1))
		return "stdin", text, err
	case isFile:
		if text, err = os.ReadFile(file); err != nil {
			return "", nil, root.Usage("--json: %v", err)
		}
		return file, text, nil
	case !strings.ContainsAny(value, "{"):
		return "", nil, root.Usage("--json is %q, expected JSON, @FILE or - for stdin", value)
	}
	return "--json", []byte(value), nil
}

// checkServers prints problems of new servers, and refuses those that can never work. A variable that is not
// set here is only a warning: it may be set where the gateway runs.
func (p commands) checkServers(cfg *config.Config, servers []config.ServerEntry) error {
	notes, err := serveradmin.CheckNew(cfg, p.Env, servers)
	for i := range notes {
		if notes[i].File == commandLine {
			notes[i].Line = 0
		}
		p.Warn("%s", locale.Sentence(notes[i].Text()))
	}
	if bad, ok := errors.AsType[*config.Error](err); ok {
		for i := range bad.Findings {
			if bad.Findings[i].File == commandLine {
				bad.Findings[i].Line = 0
			}
		}
	}
	if err != nil {
		return err
	}
	with := *cfg
	with.Servers = servers
	for _, prog := range serveradmin.Programs(&with, p.Env) {
		if prog.Err != nil {
			p.Warn("%s: %s", prog.Server, locale.Sentence(strings.TrimSuffix(prog.Err.Error()+"; "+prog.Hint, "; ")))
		}
	}
	return nil
}
