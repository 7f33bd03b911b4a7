package notes

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault check`, which looks for damage in the file of the vault.

func (p commands) vaultCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Check the vault's file for damage", Args: cobra.NoArgs,
		Long: "Checks the whole file of the vault: its pages, the trees of all documents, the full-text index,\n" +
			"and the files it stores. It changes nothing, and can run beside a gateway. If something is wrong,\n" +
			"the exit code is 1; restore a backup then.",
		RunE: func(c *cobra.Command, _ []string) error { return p.vaultCheck(c.Context()) },
	}
}

// vaultCheck prints the problems in the file. The exit code is 1 if there are any.
func (p commands) vaultCheck(ctx context.Context) error {
	return p.withVault(func(v *vaultadmin.Vault, _ *config.Config) error {
		if !v.Exists() {
			if p.JSON {
				return p.PrintJSON(map[string]any{"file": v.Path(), "exists": false, "problems": []vaultadmin.Problem{}})
			}
			p.noteNoVault(v)
			return nil
		}
		info, err := v.Info(ctx)
		if err != nil {
			return err
		}
		b := p.NewBar("checking")
		found, err := v.Check(ctx, func(done, total int) { b.Show(done, total, "") })
		b.Close()
		if err != nil {
			return err
		}
		if p.JSON {
			err = p.PrintJSON(map[string]any{"file": v.Path(), "exists": true, "problems": append([]vaultadmin.Problem{}, found...)})
		} else {
			err = p.showProblems(&info, found)
		}
		if err == nil && len(found) > 0 {
			err = root.Exit(root.ExitFailed)
		}
		return err
	})
}

func (p commands) showProblems(info *vaultadmin.Info, found []vaultadmin.Problem) error {
	if len(found) == 0 {
		_, err := locale.Fprintf(p.Out, "✓ %s: nothing wrong; %s, %s, %s\n", info.Path,
			locale.Count(info.Notebooks, "notebook"), locale.Count(info.Documents, "document"), locale.Count(info.Blocks, "block"))
		return err
	}
	rows := make([][]string, len(found))
	for i, f := range found {
		rows[i] = []string{f.Subject, f.Text}
	}
	if err := p.Table([]string{"WHERE", "WHAT IS WRONG"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%s %s: %s\n", p.Painter(p.Out).Mark("✗"), info.Path, locale.Count(len(found), "problem"))
	return err
}
