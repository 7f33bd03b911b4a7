package root

import (
	"context"
	"log/slog"
	"os/user"
	"time"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/process"
)

// This file opens the parts of the program that a command needs.

// StopTime is how long servers may take to stop before they are killed.
const StopTime = 12 * time.Second

// Principal returns the name of the operating system's user.
func Principal() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// OpenOptions say what a command needs of an app. The fields mean the same as in [app.Options].
type OpenOptions struct {
	Servers  []string // nil: all
	Sweep    bool
	Brief    bool
	Computes func()
}

// Open reads the settings and opens the parts of the program that they describe.
func (p *Program) Open(ctx context.Context, o OpenOptions) (*app.App, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	log, err := p.GatewayLogger(cfg, "")
	if err != nil {
		return nil, err
	}
	return p.Join(ctx, cfg, log, o)
}

// Join opens the parts of the program with the given settings and log.
func (p *Program) Join(ctx context.Context, cfg *config.Config, log *slog.Logger, o OpenOptions) (*app.App, error) {
	return app.Open(ctx, cfg, app.Options{
		Version: p.Version, Self: Self(), ReaperArgs: []string{process.ReaperCommand}, Servers: o.Servers, Sweep: o.Sweep, Brief: o.Brief, Computes: o.Computes, Calls: p.Calls,
		Kernel: p.Kernel, WorkDir: p.WorkDir, Env: p.Env, Logger: log,
	})
}

// Stop closes the app. It waits at most StopTime and prints a warning if that fails.
func (p *Program) Stop(a *app.App) {
	ctx, cancel := context.WithTimeout(context.Background(), StopTime)
	defer cancel()
	if err := a.Close(ctx); err != nil {
		p.Warn("stop: %v", err)
	}
}
