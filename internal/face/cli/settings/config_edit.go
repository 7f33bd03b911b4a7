package settings

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file has the commands `collie config set` and `collie config unset`.

// configSet writes a setting, prints the warnings that it causes, and puts the change on record.
func (p commands) configSet(ctx context.Context, path, typed string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	file, err := fileToChange("config set", path, cfg)
	if err != nil {
		return err
	}
	change := config.Setting(path, config.Value(typed))
	err = cfg.Edit(ctx, file, func(text []byte) ([]byte, error) {
		text, err := change(text)
		if err != nil {
			return nil, err
		}
		return text, p.checkServerField(cfg, file, path, text)
	})
	switch {
	case errors.Is(err, config.ErrNoSetting):
		return unknownSettingError(path, cfg, err)
	case err != nil:
		return root.NotWrittenError("config set", file, err)
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	for _, f := range now.Warnings {
		isKnown := func(old config.Finding) bool { return old.Pointer == f.Pointer && old.Message == f.Message }
		if !slices.ContainsFunc(cfg.Warnings, isKnown) {
			p.Warn("%s: %s", f.Place(), locale.Sentence(f.Text()))
		}
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"set": path, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "set %s in %s\n", path, file)
	}
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, "config set", map[string]any{"setting": path, "file": file})
	return nil
}

func (p commands) configUnset(ctx context.Context, path string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	file, err := fileToChange("config unset", path, cfg)
	if err != nil {
		return err
	}
	found := false
	err = cfg.Edit(ctx, file, config.Unsetting(path, &found))
	switch {
	case errors.Is(err, config.ErrNoSetting):
		return unknownSettingError(path, cfg, err)
	case err != nil:
		return root.NotWrittenError("config unset", file, err)
	}
	text := locale.Sprintf("removed %s from %s\n", path, file)
	if !found {
		text = locale.Sprintf("%s is not set in %s\n", path, file)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]any{"unset": path, "file": file, "changed": found})
	} else {
		_, err = fmt.Fprint(p.Out, text)
	}
	if err != nil || !found {
		return err
	}
	p.RecordChange(ctx, cfg, "config unset", map[string]any{"setting": path, "file": file})
	return nil
}

// fileToChange returns the file in which to write a setting: for a field of a server, the file that defines the
// server.
func fileToChange(op, path string, cfg *config.Config) (string, error) {
	names, err := config.SplitPath(path)
	if err != nil {
		return "", root.Usage("%v", err)
	}
	if !isServerPath(names) || !slices.Contains(root.ServerNames(cfg), names[1]) {
		return root.SettingsFile(cfg), nil
	}
	s, err := root.OwnServer(op, names[1], cfg)
	return s.File, err
}

// isServerPath reports whether a path leads to a server, or to a field of one.
func isServerPath(names []string) bool {
	return len(names) > 1 && (names[0] == "mcpServers" || names[0] == "servers")
}

// checkServerField returns an error if path is an unknown field of a server in text. Package config does not know
// the fields of servers.
func (p commands) checkServerField(cfg *config.Config, file, path string, text []byte) error {
	names, err := config.SplitPath(path)
	if err != nil || !isServerPath(names) || len(names) < 3 {
		return nil //nolint:nilerr // the function that sets the path reports that error
	}
	servers, err := config.Snippet(file, filepath.Dir(file), text)
	if err != nil {
		return nil //nolint:nilerr // errors in the whole text are reported when it is written
	}
	with := *cfg
	with.Servers = slices.DeleteFunc(servers, func(s config.ServerEntry) bool { return s.Name != names[1] })
	_, found := serveradmin.Specs(&with, p.Env)
	at := "/" + strings.Join(names[1:], "/")
	for _, f := range found {
		if f.Rule == "unknown" && strings.HasSuffix(f.Pointer, at) {
			return fmt.Errorf("%w: %q; %s", config.ErrNoSetting, path, f.Text())
		}
	}
	return nil
}
