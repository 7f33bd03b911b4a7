package clients

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp export`, which writes our servers in the format of another program.

// exportFlags are the flags of `collie mcp export`.
type exportFlags struct {
	to, file, profile     string
	servers               []string
	gateway, print, force bool
}

// ExportCommand returns the command `collie mcp export`.
func ExportCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f exportFlags
	c := &cobra.Command{
		Use: "export --to HOST", Short: "Export servers in another program's format", Args: cobra.NoArgs,
		Long: "Shows the servers in the settings in the format of another program, or with --gateway the one\n" +
			"entry that stands for all of them. With --file they are written into that file; its comments\n" +
			"stay, and the old file is kept as FILE.bak.\n\n" +
			"Variables are not expanded, so that no secret gets into another program's file: ${NAME} is\n" +
			"written in that program's syntax.\n\n" +
			"Programs: " + strings.Join(hostNames(), ", "),
		Example: "  collie mcp export --to codex\n  collie mcp export --to vscode --server github --file .vscode/mcp.json",
		RunE:    func(c *cobra.Command, _ []string) error { return p.exportServers(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.to, "to", "", "write in the format of `HOST`")
	flags.StringSliceVar(&f.servers, "server", nil, "only these servers: `A,B`")
	flags.BoolVar(&f.gateway, "gateway", false, "write the one entry that starts collie stdio")
	flags.StringVar(&f.profile, "profile", "", "with --gateway: show the tools of view profile `NAME`")
	flags.StringVar(&f.file, "file", "", "write into `FILE`")
	flags.BoolVar(&f.print, "print", false, "only show it (default without --file)")
	flags.BoolVar(&f.force, "force", false, "replace other servers of the same names in FILE")
	root.CompleteWith(c, "to", hostNames()...)
	return c
}

// exportServers checks the flags, plans the export and passes it to finishExport.
func (p commands) exportServers(ctx context.Context, f *exportFlags) error {
	switch {
	case f.to == "":
		return root.Usage("to which program? collie mcp export --to %s", strings.Join(hostNames(), "|"))
	case f.gateway && f.servers != nil:
		return root.Usage("--gateway stands for all servers; leave out --server")
	case !f.gateway && f.profile != "":
		return root.Usage("--profile needs --gateway")
	}
	if err := checkHost("--to", f.to); err != nil {
		return err
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	o := hostadmin.ExportOptions{Servers: f.servers, File: f.file, Force: f.force}
	if f.gateway {
		if err := root.KnownProfile(cfg, f.profile); err != nil {
			return err
		}
		o.Gateway = &hostadmin.ConnectOptions{Name: "collie", Command: p.Path()}
		if o.Gateway.Args, err = p.StdioArgs(f.profile); err != nil {
			return err
		}
		if o.Gateway.Command == "" {
			return &tool.Error{Op: "mcp export", Kind: tool.Internal, Message: "the path of this program is not known"}
		}
	}
	out, err := hostadmin.PlanExport(cfg, f.to, o)
	if err != nil {
		return err
	}
	return p.finishExport(ctx, out, f)
}

// finishExport prints or writes the export, and lists what it leaves out.
func (p commands) finishExport(ctx context.Context, out *hostadmin.Export, f *exportFlags) error {
	done := 0
	for _, s := range out.Servers {
		if s.Skip != "" {
			p.Warn("%s: left out: %s", s.Name, locale.Sentence(s.Skip))
			continue
		}
		done++
		for _, d := range s.Differences {
			p.Warn("%s: %s", s.Name, locale.Sentence(d))
		}
	}
	c := out.Connection
	write := c != nil && c.Changed && !f.print
	if write {
		if err := c.Apply(); err != nil {
			return err
		}
		if cfg, _, err := p.Settings(); err == nil {
			p.OnRecord(ctx, cfg, "mcp export", map[string]any{"client": f.to, "file": c.File, "servers": done})
		}
	}
	if p.JSON {
		answer := map[string]any{"to": f.to, "servers": out.Servers, "text": out.Text, "written": write}
		if c != nil {
			answer["file"], answer["changed"] = c.File, c.Changed
		}
		return p.PrintJSON(answer)
	}
	text := out.Text
	switch {
	case done == 0:
		text = locale.T("no server to write\n")
	case write:
		text = locale.Sprintf("%sdone. %s\n", c.Describe(true), locale.Sentence(c.Next))
	case c != nil:
		text = c.Describe(false)
	}
	_, err := fmt.Fprint(p.Out, text)
	return err
}
