package app

import (
	"context"
	"log/slog"

	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// Learner starts servers only to fetch their lists, and stores those in the tool cache. It is safe for
// concurrent use. The caller calls Close.
type Learner struct{ app *App }

// OpenLearner creates the servers of cfg, without notes, audit or other parts of a gateway. It starts none.
func OpenLearner(ctx context.Context, cfg *config.Config, o Options) (*Learner, error) {
	a := &App{log: o.Logger, env: o.Env, cfg: cfg}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	key := a.openCacheInBackground(ctx, cfg, o)
	specs, _ := serveradmin.Specs(cfg, o.Env)
	if err := a.openServers(ctx, cfg, o, specs, key); err != nil {
		return nil, err
	}
	return &Learner{a}, nil
}

// Refresh starts a server and returns when all its lists are known or it has failed.
func (l *Learner) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.app.Servers.Refresh(ctx, name)
}

// Rest stops a server.
func (l *Learner) Rest(ctx context.Context, name string) {
	_, _ = l.app.Servers.Stop(ctx, name) // an unknown server is not running, so the error does not matter
}

// Close stops the servers and writes the tool cache. When ctx ends, servers that still run are killed.
func (l *Learner) Close(ctx context.Context) error {
	l.app.set.Close(ctx)
	return l.app.closeStores()
}
