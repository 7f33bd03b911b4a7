package notes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	vaultadmin "collie/internal/vault/admin"
)

func (p commands) vaultBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup [FILE]", Short: "Copy the vault to a file, also while it is used", Args: cobra.MaximumNArgs(1),
		Long: "Writes one state of the vault to FILE, also while a gateway reads and writes it. Without FILE it\n" +
			"is vault-YYYYMMDD-HHMMSS.db in this folder, and so it is in FILE if that is a folder. A file that\n" +
			"is there is never written over. collie vault restore goes back to a backup.",
		Example: "  collie vault backup\n  collie vault backup ~/Backups\n  collie vault backup /mnt/usb/notes.db",
		RunE: func(c *cobra.Command, args []string) error {
			return p.vaultBackup(c.Context(), output.First(append(args, "")...))
		},
	}
}

func (p commands) vaultBackup(ctx context.Context, to string) error {
	return p.withVault(func(v *vaultadmin.Vault, cfg *config.Config) error {
		file, err := backupFile(to, time.Now())
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

// backupFile is where a backup goes that a person wants at a place, absolute.
func backupFile(to string, now time.Time) (string, error) {
	name := "vault-" + now.Format("20060102-150405") + ".db"
	if to == "" {
		to = name
	} else if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, name)
	}
	return filepath.Abs(to)
}
