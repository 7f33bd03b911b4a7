package notes

import (
	"context"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault export`, which writes notebooks as Markdown or as an archive for SiYuan.

// vaultExportFlags are the flags of vault export.
type vaultExportFlags struct {
	siyuan            string
	overwrite, allIDs bool
	obsidian          bool
}

func (p commands) vaultExportCommand() *cobra.Command {
	var f vaultExportFlags
	c := &cobra.Command{
		Use: "export DIR [NOTEBOOK…] | --siyuan FILE [NOTEBOOK] | --obsidian DIR [NOTEBOOK]", Short: "Export notebooks as a folder of Markdown, or for SiYuan",
		Long: "Exports the named notebooks, or all, as a folder of Markdown, which collie vault import turns back\n" +
			"into the same notes. DIR is created if it does not exist; otherwise it must be empty or hold an\n" +
			"earlier export, which --overwrite updates.\n\n" +
			"With --siyuan it writes one notebook as an archive for SiYuan. In SiYuan, create a notebook,\n" +
			"right-click it, and choose Import, SiYuan .sy.zip; then run collie siyuan init to use the tools\n" +
			"there.\n\n" +
			"What cannot be kept is listed, and the exit code is then 6.",
		Example: "  collie vault export ~/notes\n  collie vault export ~/notes Work Journal --overwrite\n" +
			"  collie vault export --siyuan work.sy.zip Work",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.siyuan == "" && len(args) == 0:
				return root.Usage("where to? name a folder, or a file with --siyuan FILE")
			case f.obsidian && len(args) > 2:
				return root.Usage("a folder for Obsidian holds one notebook; these are %d: %q", len(args)-1, args[1:])
			case f.siyuan != "" && len(args) > 1:
				return root.Usage("an archive for SiYuan holds one notebook; these are %d: %q", len(args), args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return p.vaultExport(c.Context(), args, &f) },
	}
	c.Flags().StringVar(&f.siyuan, "siyuan", "", "write an archive for SiYuan to `FILE`, such as notes.sy.zip")
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "update an earlier export, or replace FILE")
	c.Flags().BoolVar(&f.allIDs, "all-ids", false, "write every block with its id, not only those that something refers to")
	c.Flags().BoolVar(&f.obsidian, "obsidian", false, "write one notebook into a new folder for Obsidian: wiki links, #tags, plain front matter")
	c.MarkFlagsMutuallyExclusive("siyuan", "all-ids")
	c.MarkFlagsMutuallyExclusive("obsidian", "siyuan")
	c.MarkFlagsMutuallyExclusive("obsidian", "all-ids")
	c.MarkFlagsMutuallyExclusive("obsidian", "overwrite")
	return c
}

// vaultExport exports in the form that the flags name, and prints what could not be kept.
func (p commands) vaultExport(ctx context.Context, args []string, f *vaultExportFlags) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		to := f.siyuan
		if to == "" {
			to, args = args[0], args[1:]
		}
		to, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		defer debug.SetGCPercent(debug.SetGCPercent(wholePercent))
		var report vaultadmin.FolderReport
		if f.obsidian {
			b := p.NewBar("exporting")
			report, err = v.ExportObsidian(ctx, to, output.FirstNonEmpty(append(args, "")...), b.Show)
			b.Close()
		} else if f.siyuan != "" {
			report, err = v.ExportSiYuan(ctx, to, output.FirstNonEmpty(append(args, "")...), f.overwrite)
		} else {
			b := p.NewBar("exporting")
			report, err = v.Export(ctx, to, vaultadmin.FolderExport{Notebooks: args, Progress: b.Show, Overwrite: f.overwrite, AllIDs: f.allIDs})
			b.Close()
		}
		if err != nil {
			return err
		}
		p.OnRecord(ctx, cfg, "vault export", folderDetail(v, to, &report))
		return p.showFolder(locale.Sprintf("exported to %s", to), v.Path(), to, &report)
	})
}
