package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

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

// changed puts a change of the settings on record and tells what a running gateway makes of
// it.
func (p *program) changed(ctx context.Context, cfg *config.Config, command string, detail map[string]any) {
	p.onRecord(ctx, cfg, command, detail)
	if g, err := app.FindGateway(cfg.Paths); err == nil {
		p.note("restart the running gateway (pid %d at %s) to use it", g.PID, g.URL)
	}
}

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
		return usage("read settings %s: %v; check --config and COLLIE_CONFIG", e.Path, e.Err)
	}
	return err
}
