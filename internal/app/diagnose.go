package app

import (
	"context"
	"log/slog"

	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/source/upstream"
	"collie/internal/tool"
)

// Diagnose tries the server called name out and tells each step as it ends; ok is false where
// one failed. It uses a connection of its own, whatever a gateway does.
func Diagnose(ctx context.Context, cfg *config.Config, o Options, name string, tell func(tool.Step)) (ok bool, err error) {
	specs, _ := Specs(cfg, o.Env)
	for _, spec := range specs {
		if spec.Entry.Name != name {
			continue
		}
		spec.Entry.Disabled = false // a person may want to know before switching it on
		var reaper *process.Reaper
		if o.Self != "" {
			reaper = process.NewReaper(o.Self, o.ReaperArgs, nil)
			defer reaper.Close()
		}
		tokens, err := OpenSecrets(cfg, nil)
		if err != nil {
			return false, err
		}
		return upstream.Diagnose(ctx, spec, upstream.Options{
			Info: info(o.Version), Reaper: reaper, MaxFrame: int(cfg.MCP.Limits.MaxFrame), Tokens: tokens, LockDir: locks(cfg),
			Environ: o.Env.List(), Deny: cfg.MCP.EnvDeny, Ladder: o.ladder(), Logger: slog.New(slog.DiscardHandler),
		}, tell), nil
	}
	var known []string
	for _, s := range specs {
		known = append(known, s.Entry.Name)
	}
	e := &tool.Error{Op: "mcp doctor", Kind: tool.Unknown, Subject: name, Message: "no server of that name", Hint: "collie mcp list shows them"}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return false, e
}

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
	specs, _ := Specs(cfg, o.Env)
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
