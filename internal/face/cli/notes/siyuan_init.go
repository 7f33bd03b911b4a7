package notes

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file has the command `collie siyuan init`, which sets up the first connection.

// defaultConnection is the name of a connection if none is given.
const defaultConnection = "default"

func (p commands) siyuanInitCommand() *cobra.Command {
	var n newKernel
	var yes bool
	var carry carryFlags
	c := &cobra.Command{
		Use: "init", Short: "Set up the connection to SiYuan", Args: cobra.NoArgs,
		Long: "Asks for the address of your SiYuan kernel and its API token (in SiYuan: Settings - About -\n" +
			"API token), tests them, and saves them as the current connection. The token is stored as a\n" +
			"secret, not in the settings. The workspace folder is recorded, so that a different kernel at\n" +
			"that address gets no notes. With --url nothing is asked.\n\n" +
			"If the built-in vault has levels, switches, rules or a memory that SiYuan lacks, they can be\n" +
			"carried over: you are asked, or --carry and --no-carry answer. Notes themselves are not moved;\n" +
			"see collie vault export.",
		Example: "  collie siyuan init\n" +
			"  collie siyuan init --url http://127.0.0.1:6806 --token-stdin < token.txt\n" +
			"  collie siyuan init --name 工作 --url http://127.0.0.1:6806 --token-env SIYUAN_WORK",
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, _, err := p.Settings()
			if err != nil {
				return err
			}
			if n.url == "" && output.IsTerminal(p.In) && output.IsTerminal(p.Err) {
				if c.Flags().NFlag() > 0 && (c.Flag("token").Changed || n.tokenEnv != "" || n.tokenStdin) {
					return root.Usage("a token on the command line needs --url beside it")
				}
				return p.siyuanInitInteractive(c.Context(), cfg, n.name, carry)
			}
			return p.siyuanInit(c, cfg, &n, yes, carry)
		},
	}
	carry.add(c)
	n.tokenFlags(c)
	c.Flags().StringVar(&n.name, "name", "", "call the connection `NAME` (default \""+defaultConnection+"\")")
	c.Flags().BoolVar(&yes, "yes", false, "replace a connection of that name without being asked")
	return c
}

// siyuanInit saves the connection that the command line describes.
func (p commands) siyuanInit(c *cobra.Command, cfg *config.Config, n *newKernel, yes bool, carry carryFlags) error {
	ctx := c.Context()
	n.name = output.FirstNonEmpty(n.name, defaultConnection)
	if err := checkConnectionName(n.name); err != nil {
		return err
	}
	if n.url == "" {
		return root.Usage("there is no terminal to ask at: give --url, such as --url %s, and --token-stdin or --token-env", notesadmin.ProposedKernel)
	}
	var err error
	if n.url, err = notesadmin.KernelAddress(n.url); err != nil {
		return root.Usage("--url: %v", err)
	}
	saved, _ := app.Connections(cfg, p.Env)
	if old, exists := saved.Get(n.name); exists && saved.File == "" && !yes {
		if _, err := p.RequireYes(ctx, locale.Sprintf("connection %s already exists (%s). Replace it?", n.name, old.URL)); err != nil {
			return err
		}
	}
	form, err := n.readToken(p, c)
	if err != nil {
		return err
	}
	var facts *notesadmin.KernelFacts
	if !n.untested {
		got, err := notesadmin.TryKernel(ctx, n.url, n.token, nil)
		if e, ok := errors.AsType[*tool.Error](err); ok {
			e.Hint = unsavedHint(e, n.url) + "; --no-test saves it anyway"
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(p.Err, output.OneLine(kernelLine(n.url, &got)))
		facts = &got
	}
	return p.initialize(ctx, cfg, n, form, facts, carry)
}

// initialize saves a complete connection and makes it the current one. form is the reference to the token for the settings,
// empty if n.token is to be stored as a secret. facts are nil if the kernel was not asked.
func (p commands) initialize(ctx context.Context, cfg *config.Config, n *newKernel, form string, facts *notesadmin.KernelFacts, carry carryFlags) error {
	const op = "siyuan init"
	saved, _ := app.Connections(cfg, p.Env)
	old, exists := saved.Get(n.name)
	if form == "" {
		var err error
		if form, err = p.keepToken(ctx, cfg, n.name, n.token); err != nil {
			return err
		}
	}
	if exists && saved.File == "" && form != old.TokenShown() {
		p.forgetToken(ctx, cfg, old)
	}
	fields := connectionFields{"url": &n.url, "token": savedMember(form), "workspace": nil}
	if facts != nil {
		fields["workspace"] = savedMember(facts.Workspace)
	}
	file, err := p.saveConnection(ctx, cfg, op, n.name, fields, true)
	if err != nil {
		return err
	}
	if err := p.connectionSaved(ctx, op, n.name, file, facts); err != nil {
		return err
	}
	if facts != nil {
		p.carryToKernel(ctx, cfg, n, carry)
	}
	if !p.JSON {
		p.Note("every notebook can be read unless a level says otherwise; collie siyuan permission set NOTEBOOK rw lets tools write in one\n" +
			"  look around: collie fs ls /")
	}
	return nil
}

// errLeft returns the error for a person who stops answering.
func errLeft() error {
	return &tool.Error{Op: "siyuan init", Kind: tool.Unconfirmed, Message: "left, nothing was saved"}
}

// siyuanInitInteractive asks the person at the terminal for everything.
func (p commands) siyuanInitInteractive(ctx context.Context, cfg *config.Config, name string, carry carryFlags) error {
	n := newKernel{name: name}
	facts, err := p.askKernel(ctx, cfg, &n)
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		fmt.Fprintln(p.Err)
		return errLeft()
	}
	if err != nil {
		return err
	}
	return p.initialize(ctx, cfg, &n, "", facts, carry)
}
