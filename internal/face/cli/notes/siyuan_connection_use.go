package notes

import (
	"context"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file has the commands that choose and remove a saved connection.

func (p commands) siyuanConnectionUseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a saved connection the current one", Args: root.NamedArgs("name"), ValidArgsFunction: p.CompleteConnections,
		Long: "Makes the connection called NAME the one that tools work with. The name vault stands for the\n" +
			"built-in vault; connections stay saved.",
		RunE: func(c *cobra.Command, args []string) error { return p.siyuanConnectionUse(c.Context(), args[0]) },
	}
}

// siyuanConnectionUse makes a connection, or the vault, the one that tools work with.
func (p commands) siyuanConnectionUse(ctx context.Context, name string) error {
	const op = "siyuan connection use"
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	saved, _ := app.Connections(cfg, p.Env)
	if name != notesadmin.Vault {
		if _, err := ownConnection(op, name, &saved); err != nil {
			return err
		}
	}
	file, err := p.saveConnection(ctx, cfg, op, name, nil, true)
	if err != nil {
		return err
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"current": name, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "%s is the current connection\n", output.OneLine(name))
	}
	if err != nil {
		return err
	}
	p.RecordChange(ctx, cfg, op, map[string]any{"setting": "siyuan.current", "name": name, "file": file})
	return nil
}

func (p commands) siyuanConnectionRemoveCommand() *cobra.Command {
	var carry carryFlags
	c := &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Forget a saved connection and its token", Args: root.NamedArgs("name"),
		ValidArgsFunction: p.CompleteConnections,
		Long: "Removes a connection from the settings, and deletes the secret that holds its token. The old file\n" +
			"is kept as FILE.bak. After the last one is removed, the tools work on the built-in vault; the\n" +
			"levels, switches, rules and memory of SiYuan can be carried over to it first: you are asked, or\n" +
			"--carry and --no-carry answer. Notes themselves are not moved.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanConnectionRemove(c.Context(), args[0], carry)
		},
	}
	carry.add(c)
	return c
}

// siyuanConnectionRemove removes a connection and its token. For the last connection, it first offers to carry over to the
// vault what belongs to the workspace.
func (p commands) siyuanConnectionRemove(ctx context.Context, name string, carry carryFlags) error {
	const op = "siyuan connection remove"
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	saved, _ := app.Connections(cfg, p.Env)
	c, err := ownConnection(op, name, &saved)
	if err != nil {
		return err
	}
	if len(saved.Connections) == 1 {
		p.carryToVault(ctx, cfg, name, carry)
	}
	file, err := p.removeConnection(ctx, cfg, &saved, name)
	if err != nil {
		return err
	}
	p.forgetToken(ctx, cfg, c)
	if p.JSON {
		err = p.PrintJSON(map[string]string{"removed": name, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "removed connection %s from %s\n", output.OneLine(name), file)
	}
	if err != nil {
		return err
	}
	if saved.Current == name && len(saved.Connections) > 2 {
		p.Note("no connection is the current one now; collie siyuan connection use NAME makes one")
	}
	p.RecordChange(ctx, cfg, op, map[string]any{"setting": "siyuan.connections", "name": name, "file": file})
	return nil
}
