package notes

import (
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault`, the group of commands for the built-in notes.

// VaultCommand returns the command `collie vault`.
func VaultCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	c := root.Group("vault", "Your notes without SiYuan, in one file",
		p.vaultInfoCommand(),
		p.vaultImportCommand(),
		p.vaultExportCommand(),
		p.vaultSyncCommand(),
		p.vaultCheckCommand(),
		p.vaultBackupCommand(),
		p.vaultRestoreCommand(),
		p.vaultSalvageCommand(),
	)
	c.AddCommand(p.aboutVault(p.siyuanPermissionCommand(), p.siyuanUndoCommand())...)
	c.Long = "If no SiYuan is set up, your notes are kept in a vault: one file that the tools for notes read\n" +
		"and write. These commands work on the file itself, even while a gateway runs."
	c.Example = "  collie vault info\n  collie vault import ~/Obsidian\n  collie vault backup\n  collie fs tree /"
	return c
}

// withVault passes the vault of the settings, read-only, to do and then closes it.
func (p commands) withVault(do func(v *vaultadmin.Vault, cfg *config.Config) error) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	v := app.OpenVault(cfg, slog.New(slog.DiscardHandler)) // the command itself reports errors
	defer v.Close()
	return do(v, cfg)
}

// noteNoVault prints a note that the vault does not exist before its first use.
func (p commands) noteNoVault(v *vaultadmin.Vault) {
	p.Note("there is no vault yet; the first use creates it: %s", v.Path())
}

// aboutVault changes commands of "siyuan", and returns them, for "vault", because people without a SiYuan do not look there:
// examples say "vault", flags that choose a kernel are hidden, and the commands refuse to run if the notes are in a SiYuan,
// because their name would mislead.
func (p commands) aboutVault(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		p.aboutVault(c.Commands()...)
		c.Example = strings.ReplaceAll(c.Example, "collie siyuan ", "collie vault ")
		for _, name := range root.KernelFlagNames {
			if c.Flags().Lookup(name) != nil {
				_ = c.Flags().MarkHidden(name) // the flag exists
			}
		}
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := p.notInVault(c); err != nil && !c.HasSubCommands() {
				return err
			}
			return run(c, args)
		}
	}
	return commands
}

// notInVault returns an error if the notes are not in the vault.
func (p commands) notInVault(c *cobra.Command) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	instead := app.InsteadOfVault(cfg, p.Env, p.Kernel)
	if instead == "" {
		return nil
	}
	same := strings.Replace(c.CommandPath(), "collie vault", "collie siyuan", 1)
	return &tool.Error{
		Op: strings.TrimPrefix(c.CommandPath(), "collie "), Kind: tool.Invalid,
		Message: "the tools for notes do not work in the vault: " + instead, Hint: same + " is for the notes that they work in",
	}
}
