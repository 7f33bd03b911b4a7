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

// This file lets the pages read and write settings, and move the listener.

// shown is the kind of a setting that pages show and Set does not change.
const shown = "shown"

// pageSettings are the settings that a page shows. Those that are not live take effect after a restart.
var pageSettings = []web.Setting{
	{Path: "http.addr", Kind: shown, Live: true}, // the first three are changed by Listen, together
	{Path: "http.tlsCert", Kind: shown, Live: true},
	{Path: "http.tlsKey", Kind: shown, Live: true},
	{Path: "http.allowedHosts", Kind: "list", Live: true},
	{Path: "http.publicURL", Kind: "text", Live: true},
	{Path: "http.trustedProxies", Kind: "list", Live: true},
	{Path: "agent.model", Kind: "text", Live: true},
	{Path: "context.view", Kind: "choice", Choices: []string{"flat", "grouped", "search", "auto"}, Live: true},
	{Path: "context.budget", Kind: "text", Live: true},
	{Path: "guard.mode", Kind: "choice", Choices: []string{"enforce", "log"}, Live: true},
	{Path: "guard.clients", Kind: "choice", Choices: []string{"log", "enforce"}, Live: true},
	{Path: "guard.prompts", Kind: "choice", Choices: []string{"enforce", "log", "off"}, Live: true},
	{Path: "guard.notify.desktop", Kind: "switch", Live: true},
	{Path: "guard.notify.url", Kind: "text", Live: true},
	{Path: "guard.notify.format", Kind: "choice", Choices: []string{"json", "text"}, Live: true},
}

// settingsAPI implements [web.Settings] with the code of collie config.
type settingsAPI struct {
	s      *serving
	reread func(context.Context) error
}

// Settings returns the settings in pageSettings with their values in the files, or those of flags.
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
		if flag := a.flag(one.Path); flag[1] != "" { // the flag takes precedence over the file
			if one.Value, err = json.Marshal(flag[1]); err != nil {
				return out, err
			}
		}
		out.Settings = append(out.Settings, one)
	}
	return out, nil
}

// flag returns the flag of this process that sets a setting, and its value. The value is empty if no flag does.
func (a settingsAPI) flag(path string) [2]string {
	switch path {
	case "http.addr":
		return [2]string{"--http", a.s.flags.addr}
	case "http.tlsCert":
		return [2]string{"--tls-cert", a.s.flags.cert}
	case "http.tlsKey":
		return [2]string{"--tls-key", a.s.flags.key}
	}
	return [2]string{}
}

// source returns what sets a setting: a flag of this process, or the last file that has it; empty if nothing does.
func (a settingsAPI) source(cfg *config.Config, path string) string {
	if flag := a.flag(path); flag[1] != "" {
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
		return wrongSettingError(path, "there is no value")
	}
	return a.edit(ctx, path, "config set", config.Setting(path, value))
}

// Unset removes a setting.
func (a settingsAPI) Unset(ctx context.Context, path string) error {
	found := false
	return a.edit(ctx, path, "config unset", config.Unsetting(path, &found))
}

// edit changes a setting in the file, records the change and returns once it is in effect.
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
		return refusedSettingError(path, err)
	}
	a.s.OnRecord(ctx, cfg, command, map[string]any{"setting": path, "file": file})
	return a.reread(ctx)
}

// Listen changes where the gateway listens. The new listener is open before the file is written.
func (a settingsAPI) Listen(ctx context.Context, want web.Listener) (web.Moved, error) {
	if err := a.mayListen(&want); err != nil {
		return web.Moved{}, err
	}
	cfg, _, err := a.s.Settings()
	if err != nil {
		return web.Moved{}, err
	}
	next := *cfg
	next.HTTP.Addr, next.HTTP.TLSCert, next.HTTP.TLSKey = want.Addr, want.TLSCert, want.TLSKey
	opts, err := a.s.listenerOptions(&next)
	if err == nil {
		err = a.s.ports.reserve(ctx, &opts)
	}
	if err != nil {
		return web.Moved{}, addNothingChanged(err)
	}
	defer a.s.ports.closeReserved() // nothing is reserved any more once it is in use
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, listenerChange(&want)); err != nil {
		return web.Moved{}, refusedSettingError("http", err)
	}
	a.s.OnRecord(ctx, cfg, "config set", map[string]any{"setting": "http", "addr": want.Addr, "tlsCert": want.TLSCert, "file": file})
	if err := a.reread(ctx); err != nil {
		return web.Moved{}, err
	}
	if !a.s.ports.usesListener(&opts) {
		return web.Moved{}, &tool.Error{
			Op: "change setting", Kind: tool.Conflict, Subject: file, Message: "another settings file overrides it, so the address stays the same", Hint: "collie config show says which",
		}
	}
	now := a.s.ports.address()
	link, err := browserAPI{a.s}.Link(false)
	if err != nil {
		return web.Moved{}, err
	}
	return web.Moved{URL: now.URL, Everywhere: now.Everywhere, Link: link.Address}, nil
}

// mayListen checks the listen address that a page asks for, and fills in the default.
func (a settingsAPI) mayListen(want *web.Listener) error {
	f := a.s.flags
	for flag, value := range map[string]string{"--http": f.addr, "--tls-cert": f.cert, "--tls-key": f.key} {
		if value != "" {
			return &tool.Error{
				Op: "change setting", Kind: tool.Conflict, Subject: "http", Message: "this gateway was started with " + flag + " " + value, Hint: "start collie serve without it",
			}
		}
	}
	for _, path := range []string{want.TLSCert, want.TLSKey} {
		if path != "" && !filepath.IsAbs(path) {
			return wrongSettingError("http", "certificate and key need whole paths: "+path)
		}
	}
	if want.Addr == "" {
		want.Addr = "127.0.0.1:7420"
	}
	return nil
}

// addNothingChanged sets the hint of an error about an unusable address: the gateway stays where it is.
func addNothingChanged(err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return err
	}
	said := *e
	if said.Kind == tool.Unavailable {
		said.Hint = "choose another address or port; the gateway stays where it is"
	}
	return &said
}

// listenerChange returns the change of a settings file that writes where a gateway listens.
func listenerChange(want *web.Listener) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, one := range [][2]string{{"http.addr", want.Addr}, {"http.tlsCert", want.TLSCert}, {"http.tlsKey", want.TLSKey}} {
			found := false
			change := config.Unsetting(one[0], &found)
			if one[1] != "" {
				value, err := json.Marshal(one[1])
				if err != nil {
					return nil, err
				}
				change = config.Setting(one[0], value)
			}
			var err error
			if text, err = change(text); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

// refusedSettingError returns the error for a value that a setting does not take. It has the findings about the value but
// does not name the file.
func refusedSettingError(path string, err error) error {
	wrong, ok := errors.AsType[*config.Error](err)
	if !ok {
		return wrongSettingError(path, err.Error())
	}
	var texts []string
	for _, f := range wrong.Findings {
		if f.Severity == config.SeverityError {
			texts = append(texts, f.Text())
		}
	}
	return wrongSettingError(path, strings.Join(texts, "; "))
}

func wrongSettingError(path, message string) error {
	return &tool.Error{Op: "change setting", Kind: tool.Invalid, Subject: path, Message: message}
}
