package root

import (
	"io"
	"log/slog"
	"os"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// This file makes the loggers of commands.

const defaultLogLevel = "warn"

// Logger returns a logger to stderr, at the level that the user chose, else for warnings and errors alone.
func (p *Program) Logger() (*slog.Logger, error) { return p.loggerTo(p.Err, defaultLogLevel) }

// GatewayLogger returns the logger of commands that keep running. It writes to file, or else to the file in
// the settings, or else to stderr, at the level of the settings. --log-level takes precedence.
func (p *Program) GatewayLogger(cfg *config.Config, file string) (*slog.Logger, error) {
	to := cfg.Log
	if to.File = output.FirstNonEmpty(file, to.File); to.File == "" {
		return p.loggerTo(p.Err, cfg.Log.Level)
	}
	w, err := app.OpenLog(to)
	if err != nil {
		return nil, &tool.Error{
			Op: "write log", Kind: tool.Invalid, Subject: to.File, Err: err,
			Hint: `choose another "log": {"file": …}, or --log-file`,
		}
	}
	log, err := p.loggerTo(w, cfg.Log.Level)
	if err != nil {
		return nil, err
	}
	return log.With("pid", os.Getpid()), nil // several processes may write to the same file
}

// loggerTo returns a logger that writes to w, at the level of --log-level, else that of --debug, else usual.
func (p *Program) loggerTo(w io.Writer, usual string) (*slog.Logger, error) {
	if p.Debug {
		usual = "debug"
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(output.FirstNonEmpty(p.LogLevel, usual))); err != nil {
		return nil, Usage("--log-level is %q, expected debug, info, warn or error", p.LogLevel)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), nil
}
