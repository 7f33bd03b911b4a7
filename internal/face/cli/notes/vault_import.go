package notes

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault import`, which reads a folder of Markdown or an archive of SiYuan into the vault.

// wholeMemory is the memory limit, in bytes, for a command that holds all pages of a vault in memory.
const wholeMemory = 1 << 30

// wholePercent is the garbage collector's target for such a command (GOGC); it is lower than that of a
// gateway.
const wholePercent = 75

// vaultImportFlags are the flags of vault import.
type vaultImportFlags struct {
	notebook, movedFrom string
	theirs, copied, dry bool
}

func (p commands) vaultImportCommand() *cobra.Command {
	var f vaultImportFlags
	c := &cobra.Command{
		Use: "import DIR | FILE.sy.zip", Short: "Import a folder of Markdown, or a notebook of SiYuan, into the vault", Args: root.NamedArgs("folder"),
		Long: "Imports a folder of Markdown, such as one of Obsidian or Logseq or one written by collie vault\n" +
			"export, into the vault: files become documents, folders become documents with children, links\n" +
			"between pages become references, and images and attachments come along. DIR is only read. What\n" +
			"cannot be kept is listed, and the exit code is then 6. The vault is created if there is none.\n\n" +
			"FILE.sy.zip is an archive exported by SiYuan (as SiYuan .sy.zip) or by collie vault export\n" +
			"--siyuan: blocks keep their ids, attributes, references and databases.\n\n" +
			"When a folder is imported again, changed files update their documents, and nothing is removed. A\n" +
			"document that was changed here too stays as it is and is listed; with --theirs the file wins, and\n" +
			"collie vault undo reverts that. To resume an interrupted import, run the same command again.",
		Example: "  collie vault import ~/Obsidian\n  collie vault import ~/Obsidian --dry-run\n  collie vault import ~/logseq --notebook Journal\n  collie vault import Garden.sy.zip",
		RunE:    func(c *cobra.Command, args []string) error { return p.vaultImport(c.Context(), args[0], &f) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().StringVar(&f.notebook, "notebook", "", "put all into the notebook `NAME` (default: the name of DIR)")
	c.Flags().BoolVar(&f.theirs, "theirs", false, "have files win over what was changed or removed here")
	c.Flags().BoolVar(&f.copied, "copy", false, "import everything as new documents, even what was imported before")
	c.Flags().StringVar(&f.movedFrom, "moved-from", "", "continue the import from `DIR`, where the folder was before")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be done")
	c.MarkFlagsMutuallyExclusive("copy", "moved-from")
	c.MarkFlagsMutuallyExclusive("copy", "theirs")
	return c
}

// vaultImport imports a folder or an archive and prints what happened to its files. If it fails, it also prints what was
// imported before.
func (p commands) vaultImport(ctx context.Context, dir string, f *vaultImportFlags) error {
	const op = "vault import"
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	v, end, err := p.vaultToFill(cfg, f.dry)
	if err != nil {
		return err
	}
	defer end()
	b := p.NewBar("importing")
	report, err := v.Import(ctx, dir, vaultadmin.FolderImport{
		Notebook: f.notebook, Progress: b.Show, Theirs: f.theirs, Copy: f.copied, MovedFrom: f.movedFrom, DryRun: f.dry,
	}, func() { p.Note("another import into this vault is running: waiting for it to end") })
	b.Close()
	if changedAnything(&report) && !f.dry {
		p.OnRecord(context.WithoutCancel(ctx), cfg, op, folderDetail(v, dir, &report))
	}
	if err != nil {
		if changedAnything(&report) && !f.dry {
			p.Note("imported before that: %s", reportText(&report))
		}
		return err
	}
	if instead := app.InsteadOfVault(cfg, p.Env, app.KernelFlags{}); instead != "" {
		p.Note("the tools for notes do not work in the vault now: %s", locale.Sentence(instead))
	}
	return p.showImport(cfg.Vault.File, dir, &report, f.dry)
}

// vaultToFill opens the vault for a command that compares a folder with it. With dry set and no vault, it uses an empty
// temporary one. Until end is called, the program uses more memory than usual, because data about all pages stays in
// memory: with the limit of a gateway the garbage collector would run all the time. The caller calls end.
func (p commands) vaultToFill(cfg *config.Config, dry bool) (v *vaultadmin.Vault, end func(), err error) {
	quiet := slog.New(slog.DiscardHandler) // the command itself reports errors
	v = app.OpenVaultToFill(cfg, p.Env, quiet)
	tmp := ""
	if dry && !v.Exists() {
		p.closeVault(v)
		if tmp, err = os.MkdirTemp("", "collie-import-"); err != nil {
			return nil, nil, err
		}
		empty := *cfg
		empty.Vault.File = filepath.Join(tmp, "vault.db")
		v = app.OpenVaultToFill(&empty, p.Env, quiet)
	}
	limit, percent := debug.SetMemoryLimit(wholeMemory), debug.SetGCPercent(wholePercent)
	return v, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		p.closeVault(v) // some systems cannot remove an open file
		if tmp != "" {
			_ = os.RemoveAll(tmp) // an error leaves only a temporary file
		}
	}, nil
}

func (p commands) closeVault(v *vaultadmin.Vault) {
	if err := v.Close(); err != nil {
		p.Warn("the vault was not closed: %v", err)
	}
}

// showImport prints what happened to the files of a folder.
func (p commands) showImport(file, dir string, r *vaultadmin.FolderReport, dry bool) error {
	if r.From != "" && !p.JSON {
		p.Note("recognised as the folder imported from %s, which no longer exists", r.From)
	}
	if p.JSON {
		return p.showFolder("", file, dir, r)
	}
	if err := p.showStates(r); err != nil {
		return err
	}
	headline := locale.Sprintf("imported into %s", file)
	if dry {
		headline = locale.Sprintf("would be imported into %s", file)
	}
	return p.showFolder(headline, file, dir, r)
}

// worthTelling maps the outcomes that are printed file by file to their explanations.
var worthTelling = map[string]string{
	string(vaultadmin.FileRemoved):     "removed here: it stays so; --theirs brings it back",
	string(vaultadmin.FileGone):        "not in the folder any more: the document stays",
	string(vaultadmin.FileOverwritten): "changed here too: the file won; collie vault undo takes it back",
	string(vaultadmin.FileMoved):       "it was moved in the folder",
}

// showStates prints the files that need an explanation.
func (p commands) showStates(r *vaultadmin.FolderReport) error {
	var rows [][]string
	more := 0
	for _, f := range r.States {
		why, worth := worthTelling[string(f.State)]
		switch {
		case !worth && f.From == "":
			continue
		case f.From != "":
			why = locale.Sprintf("it was %s", f.From)
		}
		if len(rows) >= maxProblemRows {
			more++
			continue
		}
		rows = append(rows, []string{f.Path, string(f.State), locale.T(why)})
	}
	if len(rows) == 0 {
		return nil
	}
	err := p.Table([]string{"FILE", "STATE", "WHY"}, rows)
	if more > 0 {
		p.Note("and %d more; --json lists all", more)
	}
	return err
}
