package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

// options say where the settings are: a project's file in the working folder counts as well.
func (p *program) options() config.Options {
	o := config.Options{Files: p.files, Home: p.home, Env: p.env}
	if dir, err := os.Getwd(); err == nil { // else there is no such folder any more
		o.Project = dir
	}
	return o
}

// settings reads the settings for commands that change or judge them: what is wrong in the
// files is returned beside what could be read, so that a mistake in one place does not keep
// a person from repairing it with a command.
func (p *program) settings() (cfg *config.Config, wrong *config.Error, err error) {
	cfg, err = p.load()
	if bad, ok := errors.AsType[*config.Error](err); ok {
		return cfg, bad, nil
	}
	return cfg, nil, err
}

// settingsFile is the file that commands write to: the last one that is read, or the one
// that would be.
func settingsFile(cfg *config.Config) string {
	if n := len(cfg.Files); n > 0 {
		return cfg.Files[n-1]
	}
	return cfg.Paths.ConfigFile
}

// changed puts a change of the settings on record and tells what a running gateway makes of it:
// servers and profiles it takes up while it runs. It has done so when changed returns, so that the
// next command finds it with the new settings.
func (p *program) changed(ctx context.Context, cfg *config.Config, command string, detail map[string]any) {
	p.onRecord(ctx, cfg, command, detail)
	now, wrong, err := p.settings()
	if err != nil {
		return
	}
	g, same, err := p.findGateway(ctx, now)
	setting, _ := detail["setting"].(string)
	names, _ := config.SplitPath(setting)
	switch {
	case err != nil: // none runs
	case wrong != nil && p.readsAlike(&g, now):
		p.warn("the settings have errors, so the running gateway (pid %d) keeps the ones it has; collie mcp validate shows them", g.PID)
	case !same:
		p.note("%s", p.otherGateway(&g, now))
	case strings.HasPrefix(command, "mcp ") || len(names) > 0 && slices.Contains(reloaded, names[0]):
		p.note("the running gateway (pid %d at %s) has taken it up; no restart is needed", g.PID, g.URL)
	default:
		p.note("restart the running gateway (pid %d at %s) to use it", g.PID, g.URL)
	}
}

// reloaded are the sections that a running gateway takes up.
var reloaded = []string{"mcpServers", "servers", "inputs", "profiles", "siyuan"}

// onRecord puts a change on record that has been made: what goes wrong is only a warning.
func (p *program) onRecord(ctx context.Context, cfg *config.Config, command string, detail map[string]any) {
	raw, err := json.Marshal(detail)
	if err == nil {
		err = app.RecordChange(ctx, cfg, app.Options{Version: p.version, Env: p.env}, tool.Record{
			Name: command, Origin: tool.Direct, Principal: principal(), Client: "collie", Detail: raw,
		})
	}
	if err != nil {
		p.warn("the change is not on record: %v", err)
	}
}

// notWritten is the error for a settings file that could not be changed. What is wrong with
// the new text is told as it is.
func notWritten(op, file string, err error) error {
	if isConfig(err) {
		return err
	}
	return &tool.Error{Op: op, Kind: tool.Invalid, Subject: file, Message: "the file was not changed", Err: err}
}

// ownServer finds a server that a command is to change. One of a project that nobody has
// trusted is left alone: the person has not seen what it would start.
func ownServer(op, name string, cfg *config.Config) (config.ServerEntry, error) {
	i := slices.Index(serverNames(cfg), name)
	if i < 0 {
		return config.ServerEntry{}, unknownServer(op, name, serverNames(cfg))
	}
	s := cfg.Servers[i]
	if s.Untrusted {
		return s, &tool.Error{
			Op: op, Kind: tool.Disabled, Subject: name,
			Message: "it belongs to a project that is not trusted: " + s.File, Hint: trustHint(s.File),
		}
	}
	return s, nil
}

// shadowed warns if a name is still defined in another file, which counts now.
func (p *program) shadowed(name string) {
	now, _, err := p.settings()
	if err != nil {
		return
	}
	if i := slices.Index(serverNames(now), name); i >= 0 && !now.Servers[i].Untrusted {
		p.warn("%s is defined in %s too, and that counts now", name, now.Servers[i].File)
	}
}

// serverNames are the servers of the settings, in their order.
func serverNames(cfg *config.Config) []string {
	out := make([]string, len(cfg.Servers))
	for i, s := range cfg.Servers {
		out[i] = s.Name
	}
	return out
}

// unreadable makes a mistake of the user out of settings that cannot be read at all.
func unreadable(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return usage("read settings %s: %v; check --config, --home and COLLIE_CONFIG", e.Path, e.Err)
	}
	return err
}
