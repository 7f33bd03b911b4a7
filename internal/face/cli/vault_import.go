package cli

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"collie/internal/app"
)

func (p *program) vaultImportCommand() *cobra.Command {
	var notebook string
	c := &cobra.Command{
		Use: "import DIR", Short: "Bring a folder of Markdown into the vault", Args: named("folder"),
		Long: "Reads a folder of Markdown, such as one of Obsidian or Logseq or one that collie vault export\n" +
			"wrote, into the vault: files become documents, folders documents with children, links between\n" +
			"pages references, and images and attachments come along. DIR is only read. What could not be\n" +
			"kept is listed, and the exit code is 6 then. The vault is made if it is not there.",
		Example: "  collie vault import ~/Obsidian\n  collie vault import ~/logseq --notebook Journal",
		RunE:    func(c *cobra.Command, args []string) error { return p.vaultImport(c.Context(), args[0], notebook) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	c.Flags().StringVar(&notebook, "notebook", "", "put all into the notebook `NAME` (default: the name of DIR)")
	return c
}

func (p *program) vaultImport(ctx context.Context, dir, notebook string) error {
	const op = "vault import"
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	v := app.OpenVaultToFill(cfg, slog.New(slog.DiscardHandler)) // the command itself says what went wrong
	defer func() {
		if err := v.Close(); err != nil {
			p.warn("the vault was not closed: %v", err)
		}
	}()
	b := p.newBar("importing")
	report, err := v.Import(ctx, dir, app.FolderImport{Notebook: notebook, Progress: b.show})
	b.close()
	if done(&report) {
		p.onRecord(context.WithoutCancel(ctx), cfg, op, folderDetail(v, dir, &report))
	}
	if err != nil {
		if done(&report) {
			p.note("imported before that: %s", reportText(&report))
		}
		return err
	}
	if instead := app.InsteadOfVault(cfg, p.env, app.KernelFlags{}); instead != "" {
		p.note("the tools for notes do not work in the vault now: %s", instead)
	}
	return p.showFolder("imported into "+v.Path(), v, dir, &report)
}
