package app

import (
	"context"
	"log/slog"

	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// Learner starts servers only to learn what they offer, and keeps it. It is safe for concurrent
// use. Close ends it.
type Learner struct{ app *App }

// OpenLearner opens the servers of cfg, without notes, audit or anything else that a gateway has. It
// starts none.
func OpenLearner(ctx context.Context, cfg *config.Config, o Options) (*Learner, error) {
	a := &App{log: o.Logger, env: o.Env, cfg: cfg}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	specs, _ := serveradmin.Specs(cfg, o.Env)
	if err := a.openServers(ctx, cfg, o, specs); err != nil {
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
	_, _ = l.app.Servers.Stop(ctx, name) // one that is unknown does not run
}

// Close stops the servers, and kills what is left of them when ctx ends, and writes what was learnt.
func (l *Learner) Close(ctx context.Context) error {
	l.app.set.Close(ctx)
	return l.app.closeStores()
}
