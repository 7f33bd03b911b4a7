package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
)

func (p *program) vaultCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Look for what is wrong in the vault's file", Args: cobra.NoArgs,
		Long: "Walks all that must hold in the file of the vault: its pages, the trees of all documents, the\n" +
			"index of their words, and the files it keeps. It changes nothing, and may run while a gateway\n" +
			"does. The exit code is 1 if something is wrong; a backup is the way back then.",
		RunE: func(c *cobra.Command, _ []string) error { return p.vaultCheck(c.Context()) },
	}
}

func (p *program) vaultCheck(ctx context.Context) error {
	return p.withVault(func(v *app.Vault, _ *config.Config) error {
		if !v.Exists() {
			if p.json {
				return p.printJSON(map[string]any{"file": v.Path(), "exists": false, "problems": []app.VaultProblem{}})
			}
			p.noVaultYet(v)
			return nil
		}
		info, err := v.Info(ctx)
		if err != nil {
			return err
		}
		b := p.newBar("checking")
		found, err := v.Check(ctx, func(done, total int) { b.show(done, total, "") })
		b.close()
		if err != nil {
			return err
		}
		if p.json {
			err = p.printJSON(map[string]any{"file": v.Path(), "exists": true, "problems": append([]app.VaultProblem{}, found...)})
		} else {
			err = p.showProblems(&info, found)
		}
		if err == nil && len(found) > 0 {
			err = exit(exitFailed)
		}
		return err
	})
}

func (p *program) showProblems(info *app.VaultInfo, found []app.VaultProblem) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(p.out, "✓ %s: nothing wrong; %s, %s, %s\n", info.Path,
			count(info.Notebooks, "notebook"), count(info.Documents, "document"), count(info.Blocks, "block"))
		return err
	}
	rows := make([][]string, len(found))
	for i, f := range found {
		rows[i] = []string{f.Subject, f.Text}
	}
	if err := p.table([]string{"WHERE", "WHAT IS WRONG"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "%s %s: %s\n", p.painter(p.out).mark("✗"), info.Path, count(len(found), "problem"))
	return err
}
