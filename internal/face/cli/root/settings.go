package root

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/tool"
)

// This file reads the settings for commands, and records and explains changes of them.

// TrustHint returns what a person can do about servers in a project's settings file.
func TrustHint(file string) string {
	return locale.Sprintf("collie mcp trust %s shows what the project starts, and asks", filepath.Dir(filepath.Dir(file)))
}

// Options says where the settings are, including a project file in the working folder.
func (p *Program) Options() config.Options {
	o := config.Options{Files: p.Files, Home: p.Home, Env: p.Env, NameFor: app.NameForServer}
	if dir, err := os.Getwd(); err == nil { // an error means that the folder was removed
		o.Project = dir
	}
	return o
}

// Settings reads the settings for commands that change or check them. It returns errors in the files together
// with what could be read, so that an error in one place does not keep a person from repairing it with a
// command.
func (p *Program) Settings() (cfg *config.Config, wrong *config.Error, err error) {
	cfg, err = p.Load()
	if bad, ok := errors.AsType[*config.Error](err); ok {
		return cfg, bad, nil
	}
	return cfg, nil, err
}

// SettingsFile returns the file that commands write to: the last one that is read, or the one that would be
// read.
func SettingsFile(cfg *config.Config) string {
	if n := len(cfg.Files); n > 0 {
		return cfg.Files[n-1]
	}
	return cfg.Paths.ConfigFile
}

// RecordChange records a change of the settings and prints what a running gateway does with it. The gateway applies changes
// of servers and of reloadedSections at once. It has done so when RecordChange returns, so that the next command finds the
// new settings in effect.
func (p *Program) RecordChange(ctx context.Context, cfg *config.Config, command string, detail map[string]any) {
	p.OnRecord(ctx, cfg, command, detail)
	now, wrong, err := p.Settings()
	if err != nil {
		return
	}
	g, sameSettings, err := p.FindGateway(ctx, now)
	setting, _ := detail["setting"].(string)
	names, _ := config.SplitPath(setting)
	switch {
	case err != nil: // no gateway is running
	case wrong != nil && p.readsAlike(&g, now):
		p.Warn("the settings have errors, so the running gateway (pid %d) keeps the ones it has; collie mcp validate shows them", g.PID)
	case !sameSettings:
		p.Note("%s", p.OtherGateway(&g, now))
	case strings.HasPrefix(command, "mcp ") || len(names) > 0 && (slices.Contains(reloadedSections, names[0]) || slices.Contains(reloadedSections, setting)):
		p.Note("the running gateway (pid %d at %s) has applied it; no restart is needed", g.PID, g.URL)
	default:
		p.Note("restart the running gateway (pid %d at %s) to use it", g.PID, g.URL)
	}
}

// reloadedSections are the sections, and the single settings, that a running gateway takes up.
var reloadedSections = []string{"mcpServers", "servers", "inputs", "profiles", "context", "providers", "models", "agent", "guard", "web", "siyuan", "vault", "mcp.enabled", "mcp.registry", "http.elicitationConfirms"}

// OnRecord records a change that was made. If that fails, it only prints a warning.
func (p *Program) OnRecord(ctx context.Context, cfg *config.Config, command string, detail map[string]any) {
	raw, err := json.Marshal(detail)
	if err == nil {
		err = app.RecordChange(ctx, cfg, app.Options{Version: p.Version, Env: p.Env}, tool.Record{
			Name: command, Origin: tool.Direct, Principal: Principal(), Client: tool.ActingProgram(ctx), Detail: raw,
		})
	}
	if err != nil {
		p.Warn("the change is not on record: %v", err)
	}
}

// Recorder returns a function that records changes as [Program.OnRecord] does.
func (p *Program) Recorder(cfg *config.Config) func(ctx context.Context, command string, detail map[string]any) {
	return func(ctx context.Context, command string, detail map[string]any) {
		p.OnRecord(ctx, cfg, command, detail)
	}
}

// NotWrittenError returns the error for a settings file that could not be changed. An error in the new text is
// returned unchanged.
func NotWrittenError(op, file string, err error) error {
	if IsConfig(err) {
		return err
	}
	return &tool.Error{Op: op, Kind: tool.Invalid, Subject: file, Message: "the file was not changed", Err: err}
}

// OwnServer returns a server that a command may change. A server of an untrusted project is refused, because
// the person has not seen what it would start.
func OwnServer(op, name string, cfg *config.Config) (config.ServerEntry, error) {
	i := slices.Index(ServerNames(cfg), name)
	if i < 0 {
		return config.ServerEntry{}, UnknownServerError(op, name, ServerNames(cfg))
	}
	s := cfg.Servers[i]
	if s.Untrusted {
		return s, &tool.Error{
			Op: op, Kind: tool.Disabled, Subject: name,
			Message: "it belongs to a project that is not trusted: " + s.File, Hint: TrustHint(s.File),
		}
	}
	return s, nil
}

// WarnIfDefinedElsewhere warns if another file still defines a server with this name, because that definition then applies.
func (p *Program) WarnIfDefinedElsewhere(name string) {
	now, _, err := p.Settings()
	if err != nil {
		return
	}
	if i := slices.Index(ServerNames(now), name); i >= 0 && !now.Servers[i].Untrusted {
		p.Warn("%s is also defined in %s, and that definition applies now", name, now.Servers[i].File)
	}
}

// ServerNames returns the names of the servers in the settings, in order.
func ServerNames(cfg *config.Config) []string {
	out := make([]string, len(cfg.Servers))
	for i, s := range cfg.Servers {
		out[i] = s.Name
	}
	return out
}

// unreadableSettings returns a usage error if the settings cannot be read at all.
func unreadableSettings(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return Usage("read settings %s: %v; check --config, --home and COLLIE_CONFIG", e.Path, e.Err)
	}
	return err
}
