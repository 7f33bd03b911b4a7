package conversation

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// This file has the command `collie store`, which checks and backs up the database of conversations.

// StoreCommand returns the command `collie store`.
func StoreCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("store", "The file of conversations, usage and the state of keys",
		&cobra.Command{
			Use: "check", Short: "Check the file for damage", Args: cobra.NoArgs,
			Long: "Checks the whole file, even while a gateway uses it. Like every start it brings the tables of an older\n" +
				"version up to date, and changes nothing else. If something is wrong, the exit code is 1; put a backup in\n" +
				"its place then.",
			RunE: func(c *cobra.Command, _ []string) error { return p.checkStore(c.Context()) },
		},
		&cobra.Command{
			Use: "backup [FILE]", Short: "Copy the file, even while it is in use", Args: cobra.MaximumNArgs(1),
			Long: "Writes a consistent copy to FILE, even while a gateway uses the file. Without FILE the copy is\n" +
				"collie-YYYYMMDD-HHMMSS.db in this folder; if FILE is a folder, it gets that name there. An existing\n" +
				"file is never overwritten. Files attached to conversations lie in the folder blobs beside the\n" +
				"original and are not in the copy.",
			Example: "  collie store backup\n  collie store backup ~/Backups",
			RunE: func(c *cobra.Command, args []string) error {
				return p.backupStore(c.Context(), output.FirstNonEmpty(append(args, "")...))
			},
		},
	)
}

func (p commands) checkStore(ctx context.Context) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	file, exists := app.StoreFile(cfg)
	var problems []string
	if exists {
		if problems, err = app.CheckStore(ctx, cfg); err != nil {
			return err
		}
	}
	switch {
	case p.JSON:
		err = p.PrintJSON(map[string]any{"file": file, "exists": exists, "problems": append([]string{}, problems...)})
	case !exists:
		p.Note("nothing is kept yet; the file will be %s", file)
	case len(problems) == 0:
		_, err = locale.Fprintf(p.Out, "✓ %s: nothing wrong\n", file)
	default:
		rows := make([][]string, len(problems))
		for i, text := range problems {
			rows[i] = []string{text}
		}
		if err = p.Table([]string{"WHAT IS WRONG"}, rows); err == nil {
			_, err = fmt.Fprintf(p.Out, "%s %s: %s\n", p.Painter(p.Out).Mark("✗"), file, locale.Count(len(problems), "problem"))
		}
	}
	if err == nil && len(problems) > 0 {
		err = root.Exit(root.ExitFailed)
	}
	return err
}

func (p commands) backupStore(ctx context.Context, to string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	file, exists := app.StoreFile(cfg)
	if !exists {
		return root.Usage("nothing is kept yet in %s, so there is nothing to copy", file)
	}
	if to, err = output.BackupFile("collie", to, time.Now()); err != nil {
		return err
	}
	if err := app.BackupStore(ctx, cfg, to); err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "store backup", map[string]any{"file": file, "backup": to})
	if p.JSON {
		return p.PrintJSON(map[string]any{"file": file, "backup": to, "size": info.Size()})
	}
	_, err = fmt.Fprintf(p.Out, "✓ %s, %s\n", to, output.BinarySize(info.Size()))
	return err
}
