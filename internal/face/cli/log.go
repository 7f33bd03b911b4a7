package cli

import (
	"io"
	"log/slog"
	"os"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

const defaultLogLevel = "warn"

// logger writes to stderr what the user asked to see.
func (p *program) logger() (*slog.Logger, error) { return p.loggerTo(p.err, defaultLogLevel) }

// gatewayLogger is the logger of the commands that stay: it writes to file, else to the file
// of the settings, else to stderr, at the level of the settings. --log-level wins.
func (p *program) gatewayLogger(cfg *config.Config, file string) (*slog.Logger, error) {
	to := cfg.Log
	if to.File = first(file, to.File); to.File == "" {
		return p.loggerTo(p.err, cfg.Log.Level)
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
	return log.With("pid", os.Getpid()), nil // several processes may write it
}

func (p *program) loggerTo(w io.Writer, usual string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(first(p.logLevel, map[bool]string{true: "debug"}[p.debug], usual))); err != nil {
		return nil, usage("--log-level is %q, expected debug, info, warn or error", p.logLevel)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), nil
}
