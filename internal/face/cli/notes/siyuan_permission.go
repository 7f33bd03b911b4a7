package notes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file has the command `collie siyuan permission`, which shows and sets the levels of notebooks.

func (p commands) siyuanPermissionCommand() *cobra.Command {
	return root.Group("permission", "What tools may do in each notebook",
		p.siyuanPermissionListCommand(),
		p.siyuanPermissionGetCommand(),
		p.siyuanPermissionSetCommand(),
	)
}

// levelsHelp explains the levels.
const levelsHelp = "Levels: none hides a notebook from every tool, r allows reading, rw also writing, rwd also\n" +
	"deleting. A notebook that no file lists has r. Levels are stored in the workspace: in Collie's\n" +
	"own file and in that of the SiYuan plugin; where both list a notebook, the lower level counts."

func (p commands) siyuanPermissionListCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "Show the level of every notebook", Args: cobra.NoArgs, Long: "Shows the level of every notebook.\n\n" + levelsHelp,
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanPermissionList(c.Context()) },
	}
	p.KernelFlags(c)
	return c
}

func (p commands) siyuanPermissionList(ctx context.Context) error {
	return p.withNotes(ctx, func(_ *app.App, notes *notesadmin.Notes) error {
		all, err := notes.Levels(ctx)
		switch {
		case err != nil:
			return err
		case p.JSON:
			return p.PrintJSON(map[string]any{"notebooks": all})
		case len(all) == 0:
			p.Note("the workspace has no notebooks")
			return nil
		}
		rows := make([][]string, len(all))
		for i, n := range all {
			rows[i] = []string{n.Name, n.Level, n.ID, closedNote(n)}
		}
		return p.Table([]string{"NOTEBOOK", "LEVEL", "ID", ""}, rows)
	})
}

// closedNote returns the remark about a notebook that is closed in SiYuan.
func closedNote(n notesadmin.NotebookLevel) string {
	if n.Closed {
		return "closed"
	}
	return ""
}

func (p commands) siyuanPermissionGetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "get NOTEBOOK", Short: "Show the level of one notebook", Args: root.NamedArgs("notebook"),
		Long:    "Shows the level of the notebook with this id or name.\n\n" + levelsHelp,
		Example: "  collie siyuan permission get 工作\n  collie siyuan permission get 20210808180117-czj9bvb",
		RunE:    func(c *cobra.Command, args []string) error { return p.siyuanPermissionGet(c.Context(), args[0]) },
	}
	p.KernelFlags(c)
	return c
}

func (p commands) siyuanPermissionGet(ctx context.Context, notebook string) error {
	return p.withNotes(ctx, func(_ *app.App, notes *notesadmin.Notes) error {
		n, err := notes.Level(ctx, notebook)
		switch {
		case err != nil:
			return err
		case p.JSON:
			return p.PrintJSON(n)
		}
		_, err = fmt.Fprintln(p.Out, n.Level)
		return err
	})
}

func (p commands) siyuanPermissionSetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "set NOTEBOOK LEVEL", Short: "Set the level of one notebook", Args: root.NamedArgs("notebook", "level"),
		Long: "Sets the level of the notebook with this id or name, and shows the old one. No agent can do\n" +
			"this. A running gateway applies it within a second.\n\n" + levelsHelp,
		Example: "  collie siyuan permission set 工作 rw\n  collie siyuan permission set 20210808180117-czj9bvb none",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanPermissionSet(c.Context(), args[0], args[1])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return slices.DeleteFunc(notesadmin.LevelNames(), func(l string) bool { return !strings.HasPrefix(l, typed) }), cobra.ShellCompDirectiveNoFileComp
		},
	}
	p.KernelFlags(c)
	return c
}

// siyuanPermissionSet sets the level of a notebook. It is an error if a file of another program keeps the effective level
// lower; the level is set all the same.
func (p commands) siyuanPermissionSet(ctx context.Context, notebook, level string) error {
	return p.withNotes(ctx, func(a *app.App, notes *notesadmin.Notes) error {
		before, err := notes.SetLevel(ctx, notebook, level)
		held := errors.Is(err, notesadmin.ErrLevelHeld)
		level := strings.ToLower(strings.TrimSpace(level))
		if detail, ok := notesadmin.OnRecord(map[string]any{"notebook": before.ID, "from": before.Level, "to": level, "held": held}, err); ok {
			p.workspaceChanged(ctx, a, "siyuan permission set", detail)
		}
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(map[string]any{"notebook": before.ID, "name": before.Name, "previous": before.Level, "level": level})
		}
		_, err = fmt.Fprintf(p.Out, "%s (%s): %s → %s\n", output.OneLine(before.Name), before.ID, before.Level, level)
		return err
	})
}
