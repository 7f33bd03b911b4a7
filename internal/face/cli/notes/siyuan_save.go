package notes

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	secretadmin "collie/internal/secret/admin"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file writes connections into the settings and their tokens into the secret store.

// secretPrefix plus the name of a connection is the name of the secret with its token.
const secretPrefix = "siyuan_"

// tokenForm returns the reference to a connection's secret token for the settings.
func tokenForm(connection string) string { return "${secret:" + secretPrefix + connection + "}" }

// checkConnectionName returns a usage error if a connection cannot have this name.
func checkConnectionName(name string) error {
	if err := secretadmin.CheckName(secretPrefix + name); name == "" || err != nil {
		return root.Usage("the name of the connection is %q, expected letters, digits and symbols other than spaces and { } $ #", name)
	}
	return nil
}

// keepToken stores a token as the secret of a connection and returns the reference for the settings. For an empty token it
// stores nothing and returns "".
func (p commands) keepToken(ctx context.Context, cfg *config.Config, connection, token string) (form string, err error) {
	if token == "" {
		return "", nil
	}
	if strings.ContainsAny(token, " \t\r\n") {
		return "", root.Usage("a token is one word; this has blanks or line breaks")
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return "", err
	}
	if err := store.Set(ctx, secretPrefix+connection, token); err != nil {
		return "", root.SecretError(locale.T("keep the token of"), connection, err)
	}
	return tokenForm(connection), nil
}

// forgetToken deletes the secret of a connection, if its token is one.
func (p commands) forgetToken(ctx context.Context, cfg *config.Config, c notesadmin.SavedKernel) {
	if c.TokenShown() != tokenForm(c.Name) {
		return
	}
	store, err := secretadmin.Open(cfg, nil)
	if err == nil {
		err = store.Delete(ctx, secretPrefix+c.Name)
	}
	if err != nil {
		p.Warn("the secret %s is still kept: %v", secretPrefix+c.Name, err)
	}
}

// connectionFields are fields to write to a connection: a text, or nil to remove the field. Other fields
// stay.
type connectionFields map[string]*string

// saveConnection writes a connection into the settings, preserving comments, and makes it the current one if
// current is set.
func (p commands) saveConnection(ctx context.Context, cfg *config.Config, op, name string, fields connectionFields, current bool) (file string, err error) {
	file = root.SettingsFile(cfg)
	err = cfg.Edit(ctx, file, func(text []byte) ([]byte, error) {
		for _, field := range []string{"url", "token", "workspace"} {
			value, ok := fields[field]
			if !ok {
				continue
			}
			change := unsetting(connectionPath(name, field))
			if value != nil {
				change = config.Setting(connectionPath(name, field), rawjson.Quote(*value))
			}
			var err error
			if text, err = change(text); err != nil {
				return nil, err
			}
		}
		if !current {
			return text, nil
		}
		return config.Setting("/siyuan/current", rawjson.Quote(name))(text)
	})
	if err != nil {
		return file, root.NotWrittenError(op, file, err)
	}
	return file, nil
}

// unsetting returns the change that removes a setting, if it exists.
func unsetting(path string) func(text []byte) ([]byte, error) {
	found := false
	change := config.Unsetting(path, &found)
	return func(text []byte) ([]byte, error) {
		out, err := change(text)
		if err != nil && !found {
			return text, nil // the setting does not exist
		}
		return out, err
	}
}

// connectionPath returns the path of a connection in the settings, or of one of its fields. It is a JSON pointer, because
// names may contain dots.
func connectionPath(name string, field ...string) string {
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return strings.Join(append([]string{"/siyuan/connections", escaped}, field...), "/")
}

// ownConnection returns a saved connection that a command may change. One in another program's file may not
// be changed.
func ownConnection(op, name string, saved *notesadmin.SavedKernels) (notesadmin.SavedKernel, error) {
	c, ok := saved.Get(name)
	switch {
	case !ok:
		e := &tool.Error{
			Op: op, Kind: tool.NotFound, Subject: name, Message: "no SiYuan connection of that name",
			Hint: "collie siyuan connection list shows them",
		}
		if near, ok := tool.Nearest(name, saved.Names()); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return c, e
	case saved.File != "":
		return c, &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: name, Message: "it is in the file of another program, " + saved.File,
			Hint: fmt.Sprintf("collie siyuan connection set %s --url %s saves it in Collie's own settings", name, c.URL),
		}
	}
	return c, nil
}

// connectionSaved prints and records that a connection was saved.
func (p commands) connectionSaved(ctx context.Context, command, name, file string, facts *notesadmin.KernelFacts) error {
	var err error
	if p.JSON {
		out := map[string]any{"connection": name, "file": file}
		if facts != nil {
			out["kernel"] = facts
		}
		err = p.PrintJSON(out)
	} else {
		_, err = locale.Fprintf(p.Out, "saved connection %s in %s\n", output.OneLine(name), file)
	}
	if err != nil {
		return err
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, command, map[string]any{"setting": "siyuan.connections", "name": name, "file": file})
	if p.Env.Get("SIYUAN_API_URL") != "" {
		p.Warn("SIYUAN_API_URL is set and takes precedence over every saved connection; unset it to use this one")
	}
	return nil
}

// savedMember returns a text as a field of a connection; an empty text removes the field.
func savedMember(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// kernelLine describes a kernel that answered.
func kernelLine(address string, facts *notesadmin.KernelFacts) string {
	if facts.ReadOnly {
		return locale.Sprintf("✓ SiYuan %s at %s: read-only, %s; its workspace is not recorded, since the kernel does not report one", facts.Version, address, locale.Count(facts.Notebooks, "notebook"))
	}
	return locale.Sprintf("✓ SiYuan %s at %s: workspace %s, %s", facts.Version, address, facts.Workspace, locale.Count(facts.Notebooks, "notebook"))
}
