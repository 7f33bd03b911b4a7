package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the commands `collie vault restore` and `collie vault salvage`.

func (p commands) vaultRestoreCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "restore BACKUP", Short: "Restore the vault from a backup", Args: root.NamedArgs("backup"),
		Long: "Replaces the vault, even a damaged or missing one, with BACKUP, a file written by collie vault\n" +
			"backup. BACKUP is checked first and is not changed; the vault that was there is kept beside it.\n" +
			"Stop the gateway and everything else that uses the vault first.",
		Example: "  collie vault restore ~/Backups/vault-20261121-185700.db",
		RunE:    func(c *cobra.Command, args []string) error { return p.vaultRestore(c.Context(), args[0], yes) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "go back without being asked")
	return c
}

// vaultRestore replaces the vault by a backup, after checking it and asking.
func (p commands) vaultRestore(ctx context.Context, backup string, yes bool) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		backup, err := filepath.Abs(backup)
		if err != nil {
			return err
		}
		switch g, err := home.FindGateway(cfg.Paths); {
		case err == nil:
			return &tool.Error{
				Op: "restore the vault", Kind: tool.Conflicting, Subject: v.Path(), Message: fmt.Sprintf("a gateway has it open (pid %d): nothing was changed", g.PID),
				Hint: "stop it, restore, and start it again",
			}
		case !errors.Is(err, home.ErrNoGateway):
			return err
		}
		if err := v.MayRestore(backup); err != nil {
			return err
		}
		if !yes && v.Exists() {
			if _, err := p.RequireYes(ctx, locale.Sprintf("put %s in place of %s, which is kept beside it?", backup, v.Path())); err != nil {
				return err
			}
		}
		b := p.NewBar("checking")
		r, err := v.Restore(ctx, backup, func(done, total int) { b.Show(done, total, "") })
		b.Close()
		if err != nil {
			return err
		}
		p.OnRecord(ctx, cfg, "vault restore", map[string]any{"file": v.Path(), "backup": backup, "kept": r.Kept})
		if p.JSON {
			return p.PrintJSON(map[string]any{"file": v.Path(), "backup": backup, "kept": r.Kept, "notebooks": r.Notebooks, "documents": r.Documents, "blocks": r.Blocks})
		}
		if r.Kept != "" {
			p.Note("what was there is %s", r.Kept)
		}
		_, err = locale.Fprintf(p.Out, "✓ %s is what it was in %s: %s, %s, %s\n", v.Path(), backup,
			locale.Count(r.Notebooks, "notebook"), locale.Count(r.Documents, "document"), locale.Count(r.Blocks, "block"))
		return err
	})
}

func (p commands) vaultSalvageCommand() *cobra.Command {
	return &cobra.Command{
		Use: "salvage DIR", Short: "Recover the readable notes of a damaged vault as Markdown", Args: root.NamedArgs("folder"),
		Long: "Reads the file of a damaged vault page by page and writes the notes it finds to DIR in the form\n" +
			"of collie vault export, which collie vault import reads. What is missing is listed, in DIR too,\n" +
			"and the exit code is then 6. Recently removed notes may reappear. The file itself is only read.\n" +
			"If you have a backup, use collie vault restore instead.",
		Example: "  collie vault salvage ~/salvaged",
		RunE:    func(c *cobra.Command, args []string) error { return p.vaultSalvage(c.Context(), args[0]) },
	}
}

// vaultSalvage writes the notes that can still be read to a folder, and prints what is lost.
func (p commands) vaultSalvage(ctx context.Context, dir string) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		// Everything found stays in memory, files too: with the limit of a gateway the garbage collector
		// would run all the time.
		size := int64(0)
		if info, err := os.Stat(v.Path()); err == nil {
			size = info.Size()
		}
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(wholeMemory + 2*size))
		report, lost, err := v.Salvage(ctx, dir)
		if err != nil {
			return err
		}
		p.OnRecord(ctx, cfg, "vault salvage", folderDetail(v, dir, &report))
		for _, l := range lost {
			report.Problems = append(report.Problems, vaultadmin.FolderProblem{Path: l.Where, Code: "not-salvaged", What: l.What, Why: locale.T("it could not be read")})
		}
		return p.showFolder(locale.Sprintf("salvaged to %s", dir), v.Path(), dir, &report)
	})
}
