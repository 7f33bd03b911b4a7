package app

import (
	"context"

	serveradmin "collie/internal/source/upstream/admin"
)

// Switch returns a function that switches a tool, or one of its actions, on or off: a tool of a server in the settings, one of ours
// in the tool config of the notes. What it does is in effect when it returns. Its reread and person are those of Providers.
func (a *App) Switch(editor *serveradmin.Editor, reread func(context.Context) error, person string) func(ctx context.Context, name, action string, on bool) error {
	record := a.changed(reread, person)
	return func(ctx context.Context, name, action string, on bool) error {
		for _, s := range a.config().Servers {
			if s.Name != name {
				continue
			}
			if action == "" {
				return editor.Switch(ctx, name, on)
			}
			return editor.SwitchTool(ctx, name, action, on)
		}
		notes, err := a.Notes.Admin()
		if err != nil {
			return err
		}
		if action != "" {
			name += "." + action
		}
		if _, err := notes.Switch(ctx, name, on); err != nil {
			return err
		}
		return record(ctx, "siyuan config set", map[string]any{"name": name, "on": on})
	}
}
