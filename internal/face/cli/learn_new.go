package cli

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/tool"
)

// This file ends the commands that add servers or clients: the tools of servers that nobody has
// seen are learnt at once, so that the first session of a client waits for nothing.

// learnLimit bounds how long such a command takes for it; packages may have to be downloaded.
const learnLimit = 90 * time.Second

func noWarmFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "no-warm", false, "do not start servers to learn their tools now")
}

// learnNew learns the tools of all servers that have no list yet, by the running gateway where it
// has these settings, else here. What cannot be learnt is told, and no error of the command that has
// done its work.
func (p *program) learnNew(ctx context.Context) {
	cfg, err := p.load()
	if err != nil || !cfg.Cache.Enabled {
		return // what is wrong has been told
	}
	names := p.unseen(ctx, cfg)
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, learnLimit, &tool.Error{Op: "learn the tools", Kind: tool.Timeout, Message: "not within " + learnLimit.String()})
	defer cancel()
	l, end, err := p.learnerFor(ctx, cfg)
	if err != nil {
		p.warn("the tools of %s are not learnt yet: %v", strings.Join(names, ", "), err)
		return
	}
	if !p.json {
		p.note("learning the tools of %s; Ctrl-C or --no-warm leaves that to the first use", strings.Join(names, ", "))
	}
	results := p.learnAll(ctx, l, names, cmp.Or(cfg.MCP.WarmParallel, 4), learnLimit)
	end()
	for _, r := range results {
		switch {
		case r.OK && p.json:
		case r.OK:
			p.note("%s: %s", r.Name, count(r.Tools, "tool"))
		case ctx.Err() != nil && r.Type != tool.NeedsAuth:
			p.warn("%s: its tools are not learnt yet; collie cache warm %s does it, or its first use", r.Name, r.Name)
		default:
			p.warn("%s: its tools are not learnt: %s; %s", r.Name, oneLine(r.Error), first(r.hint, "collie mcp doctor "+r.Name+" tries it step by step"))
		}
	}
}

// unseen are the servers that are on and have no list in the cache.
func (p *program) unseen(ctx context.Context, cfg *config.Config) []string {
	uncached := p.uncached()
	var out []string
	for _, s := range app.ReadServers(ctx, cfg, p.env) {
		st := s.Status
		on := st.State != tool.StateDisabled && st.State != tool.StateConfigError
		if on && st.Freshness == tool.FreshNone && !slices.Contains(uncached, st.Name) {
			out = append(out, st.Name)
		}
	}
	return out
}

// learnerFor is the running gateway, or servers opened here. end is to be called.
func (p *program) learnerFor(ctx context.Context, cfg *config.Config) (l learner, end func(), err error) {
	if r, same, err := p.gateway(ctx, cfg); err == nil {
		r.servers = []string{} // wait for none
		if same {
			return r, r.Close, nil
		}
		r.Close()
	}
	here, err := app.OpenLearner(ctx, cfg, app.Options{
		Version: p.version, Self: self(), GuardArgs: []string{process.GuardCommand}, Brief: true, Env: p.env, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	return here, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := here.Close(ctx); err != nil {
			p.warn("stop: %v", err)
		}
	}, nil
}
