package notes

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault backup`, which copies the file of the vault.

func (p commands) vaultBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup [FILE]", Short: "Copy the vault to a file, even while it is in use", Args: cobra.MaximumNArgs(1),
		Long: "Writes a consistent copy of the vault to FILE, even while a gateway uses it. Without FILE the\n" +
			"copy is vault-YYYYMMDD-HHMMSS.db in this folder; if FILE is a folder, it gets that name there. An\n" +
			"existing file is never overwritten. Use collie vault restore to go back to a backup.",
		Example: "  collie vault backup\n  collie vault backup ~/Backups\n  collie vault backup /mnt/usb/notes.db",
		RunE: func(c *cobra.Command, args []string) error {
			return p.vaultBackup(c.Context(), output.FirstNonEmpty(append(args, "")...))
		},
	}
}

func (p commands) vaultBackup(ctx context.Context, to string) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		file, err := output.BackupFile("vault", to, time.Now())
		if err != nil {
			return err
		}
		if err := v.Backup(ctx, file); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		p.OnRecord(ctx, cfg, "vault backup", map[string]any{"file": v.Path(), "backup": file})
		if p.JSON {
			return p.PrintJSON(map[string]any{"file": v.Path(), "backup": file, "size": info.Size()})
		}
		_, err = fmt.Fprintf(p.Out, "✓ %s, %s\n", file, output.BinarySize(info.Size()))
		return err
	})
}
