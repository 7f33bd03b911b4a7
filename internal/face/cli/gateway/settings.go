package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// shown is the kind of a setting that a page does not change.
const shown = "shown"

// pageSettings are the settings that a page shows. Those that are not live take effect after a restart.
var pageSettings = []web.Setting{
	{Path: "http.addr", Kind: "text"},
	{Path: "http.allowedHosts", Kind: "list"},
	{Path: "http.tlsCert", Kind: shown}, // both belong together, and a page writes one setting at a time
	{Path: "http.tlsKey", Kind: shown},
	{Path: "context.view", Kind: "choice", Choices: []string{"flat", "grouped", "search", "auto"}, Live: true},
	{Path: "context.budget", Kind: "text", Live: true},
	{Path: "guard.mode", Kind: "choice", Choices: []string{"enforce", "log"}, Live: true},
	{Path: "guard.clients", Kind: "choice", Choices: []string{"log", "enforce"}, Live: true},
	{Path: "guard.prompts", Kind: "choice", Choices: []string{"enforce", "log", "off"}, Live: true},
	{Path: "guard.notify.desktop", Kind: "switch", Live: true},
	{Path: "guard.notify.url", Kind: "text", Live: true},
	{Path: "guard.notify.format", Kind: "choice", Choices: []string{"json", "text"}, Live: true},
}

// settingsAPI implements [web.Settings] as collie config does it.
type settingsAPI struct {
	s      *serving
	reread func(context.Context) error
}

// Settings returns the settings as they are in the files.
func (a settingsAPI) Settings() (web.SettingList, error) {
	cfg, _, err := a.s.Settings()
	if err != nil {
		return web.SettingList{}, err
	}
	out := web.SettingList{File: root.SettingsFile(cfg)}
	hidden := app.Hidden(cfg)
	for _, one := range pageSettings {
		if one.Value, err = hidden.Get(one.Path); err != nil {
			return out, err
		}
		one.Source = a.source(cfg, one.Path)
		out.Settings = append(out.Settings, one)
	}
	return out, nil
}

// source returns what sets a setting: a flag of this process, or the last file that has it; empty if nothing does.
func (a settingsAPI) source(cfg *config.Config, path string) string {
	flags := map[string][2]string{
		"http.addr": {"--http", a.s.flags.addr}, "http.tlsCert": {"--tls-cert", a.s.flags.cert}, "http.tlsKey": {"--tls-key", a.s.flags.key},
	}
	if flag := flags[path]; flag[1] != "" {
		return flag[0] + " " + flag[1]
	}
	source := ""
	for _, file := range cfg.Files {
		found := false
		text, err := os.ReadFile(filepath.Clean(file))
		if err == nil {
			_, err = config.Unsetting(path, &found)(text)
		}
		if err == nil && found {
			source = file
		}
	}
	return source
}

// Set writes a setting.
func (a settingsAPI) Set(ctx context.Context, path string, value json.RawMessage) error {
	if len(value) == 0 {
		return wrongSetting(path, "there is no value")
	}
	return a.edit(ctx, path, "config set", config.Setting(path, value))
}

// Unset removes a setting.
func (a settingsAPI) Unset(ctx context.Context, path string) error {
	found := false
	return a.edit(ctx, path, "config unset", config.Unsetting(path, &found))
}

func (a settingsAPI) edit(ctx context.Context, path, command string, change func([]byte) ([]byte, error)) error {
	known := false
	for i := range pageSettings {
		known = known || pageSettings[i].Path == path && pageSettings[i].Kind != shown
	}
	if !known {
		return &tool.Error{Op: command, Kind: tool.NotFound, Subject: path, Message: "this setting is not changed at a page", Hint: "collie config set changes all settings"}
	}
	cfg, _, err := a.s.Settings()
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, change); err != nil {
		return refusedSetting(path, err)
	}
	a.s.OnRecord(ctx, cfg, command, map[string]any{"setting": path, "file": file})
	return a.reread(ctx)
}

// refusedSetting returns the error for a value that a setting does not take: what was found, without the file it would have been in.
func refusedSetting(path string, err error) error {
	wrong, ok := errors.AsType[*config.Error](err)
	if !ok {
		return wrongSetting(path, err.Error())
	}
	var texts []string
	for _, f := range wrong.Findings {
		if f.Severity == config.SeverityError {
			texts = append(texts, f.Text())
		}
	}
	return wrongSetting(path, strings.Join(texts, "; "))
}

func wrongSetting(path, message string) error {
	return &tool.Error{Op: "change setting", Kind: tool.Invalid, Subject: path, Message: message}
}
