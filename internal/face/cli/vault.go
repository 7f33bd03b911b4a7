package cli

import (
	"log/slog"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
)

func (p *program) vaultCommand() *cobra.Command {
	c := group("vault", "Your notes without a SiYuan, in one file",
		p.vaultInfoCommand(),
		p.vaultImportCommand(),
		p.vaultExportCommand(),
		p.vaultCheckCommand(),
		p.vaultBackupCommand(),
		p.vaultRestoreCommand(),
		p.vaultSalvageCommand(),
	)
	c.AddCommand(p.aboutVault(p.siyuanPermissionCommand(), p.siyuanUndoCommand())...)
	c.Long = "Where no SiYuan is set up your notes are kept in a vault: one file that the tools for notes read\n" +
		"and write. These commands work on the file itself, also while a gateway runs."
	c.Example = "  collie vault info\n  collie vault import ~/Obsidian\n  collie vault backup\n  collie fs tree /"
	return c
}

// withVault hands do the vault of the settings, for looking at it, and closes it when do has
// returned. Nothing is made or changed.
func (p *program) withVault(do func(v *app.Vault, cfg *config.Config) error) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	v := app.OpenVault(cfg, slog.New(slog.DiscardHandler)) // the command itself says what went wrong
	defer v.Close()                                        //nolint:errcheck // nothing was written
	return do(v, cfg)
}

// noVaultYet tells people of a vault that nobody has used.
func (p *program) noVaultYet(v *app.Vault) {
	p.note("there is no vault yet; the first use makes it: %s", v.Path())
}
