package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	notesadmin "collie/internal/source/siyuan/admin"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file has changes of single tools that people make: on or off, and under which name and description clients see them.

// Switch returns a function that switches a tool, or one of its actions, on or off: a tool of a server in the settings, a
// tool for notes in the tool config of the workspace. The change is in effect when the function returns. For reread and
// person see [App.Providers].
func (a *App) Switch(editor *serveradmin.Editor, reread func(context.Context) error, person string) func(ctx context.Context, name, action string, on bool) error {
	record := a.changed(reread, person)
	return func(ctx context.Context, name, action string, on bool) error {
		for _, s := range a.settings().Servers {
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
		_, err = notes.Switch(ctx, name, on)
		if detail, ok := notesadmin.OnRecord(map[string]any{"name": name, "on": on}, err); ok {
			return errors.Join(err, record(ctx, "siyuan config set", detail))
		}
		return err
	}
}

// Describe returns a function that sets the alias and the description under which clients see a tool of a server. An empty
// one shows the server's own. The change is in effect when the function returns.
func (a *App) Describe(editor *serveradmin.Editor) func(ctx context.Context, name, action, alias, description string) error {
	return func(ctx context.Context, name, action, alias, description string) error {
		all := a.Tools("")
		i := slices.IndexFunc(all, func(t tool.Tool) bool { return t.Name == name })
		if i < 0 {
			return &tool.Error{Op: "describe tool", Kind: tool.NotFound, Subject: name, Message: "there is no such tool"}
		}
		known := false
		for j := range all[i].Actions {
			switch one := &all[i].Actions[j]; {
			case one.Name == action && one.Strict:
				return &tool.Error{Op: "describe tool", Kind: tool.Invalid, Subject: name, Message: "only tools of servers can be described in other words"}
			case one.Name == action:
				known = true
			case alias != "" && one.Is(alias):
				return &tool.Error{Op: "describe tool", Kind: tool.Invalid, Subject: alias, Message: "another tool of this server has that name", Hint: "choose another one"}
			}
		}
		if !known {
			return &tool.Error{Op: "describe tool", Kind: tool.NotFound, Subject: name + "." + action, Message: "there is no such tool"}
		}
		return editor.DescribeTool(ctx, name, action, strings.TrimSpace(alias), strings.TrimSpace(description))
	}
}
