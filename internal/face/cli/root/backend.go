package root

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/remote"
	"collie/internal/tool"
)

// This file has the types that run the work of commands, either at a running gateway or with parts opened in this
// process.

// Backend runs what a command needs: a running gateway of this home, or parts opened in this process. It is
// safe for concurrent use. The caller calls Close.
type Backend interface {
	// Tools returns what a profile sees, including tools that are off. It waits until the servers that the
	// backend was opened for have started.
	Tools(ctx context.Context, profile string) ([]tool.Tool, error)
	// List returns the MCP result of a list, byte for byte as clients see it.
	List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, error)
	// Rebalance makes the catalog choose the views of servers again where the view is auto.
	Rebalance(ctx context.Context) error
	Servers(ctx context.Context) ([]tool.ServerStatus, error)
	// Restart, Refresh and Start return the state of the server after the operation.
	Restart(ctx context.Context, name string) (tool.ServerStatus, error)
	Refresh(ctx context.Context, name string) (tool.ServerStatus, error)
	Start(ctx context.Context, name string) (tool.ServerStatus, error)
	// Changes returns the tool definitions of a server that wait for approval. Approve approves those in shown, which has
	// their hashes by tool, and fails if one has changed since.
	Changes(ctx context.Context, name string) (map[string]tool.DefinitionChange, error)
	Approve(ctx context.Context, name string, shown map[string]string) (int, error)
	// Call runs c through the pipeline, as the person at this terminal.
	Call(ctx context.Context, c tool.Request) (tool.Result, error)
	// FlushCache writes pending changes of the tool cache.
	FlushCache(ctx context.Context) error
	Close()
}

// Backend returns the running gateway of this home if it has the same settings and version. Otherwise it
// opens the parts in this process and starts servers: all if servers is nil, none if it is empty. For named servers it
// asks the person at this terminal for inputs that have no value.
func (p *Program) Backend(ctx context.Context, servers []string) (Backend, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	log, err := p.Logger()
	if err != nil {
		return nil, err
	}
	if !p.Local {
		g, sameSettings, err := p.FindGateway(ctx, cfg)
		switch {
		case err == nil && sameSettings:
			r := remote.New(cfg, g, servers)
			if r.Alive(ctx) {
				return r, nil
			}
			r.Close()
			log.Info(locale.T("the gateway of this home does not answer"), "url", g.URL) //nolint:sloglint // the message that commands show
		case err == nil:
			log.Info(p.OtherGateway(&g, cfg)) //nolint:sloglint // the message that commands show
		case !errors.Is(err, home.ErrNoGateway):
			log.Warn("gateway.json not read", "error", err)
		}
	}
	if err := p.askInputs(ctx, cfg, servers); err != nil {
		return nil, err
	}
	if p.LogLevel == "" && !p.Debug {
		log = slog.New(slog.DiscardHandler) // the command itself reports errors
	}
	a, err := p.Join(ctx, cfg, log, OpenOptions{Servers: servers, Brief: true})
	if err != nil {
		return nil, err
	}
	p.AboutKernel(a)
	return &Local{program: p, App: a, servers: servers}, nil
}

// LocalFlag adds the flag that makes a command ignore a running gateway.
func (p *Program) LocalFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.Local, "local", false, "start the servers here even if a gateway is running")
}

// Local is a Backend with the parts opened in this process.
type Local struct {
	program *Program
	App     *app.App
	servers []string
}

// Tools returns the tools of a profile, once the command's servers have started.
func (l *Local) Tools(ctx context.Context, profile string) ([]tool.Tool, error) {
	if err := l.App.Servers.Await(ctx, l.servers); err != nil {
		return nil, err
	}
	return l.App.Tools(profile), nil
}

// Rebalance discards the views that were chosen automatically, so that they are chosen again.
func (l *Local) Rebalance(context.Context) error { return l.App.Rebalance() }

// List returns the list of a kind for a profile, once the command's servers have started.
func (l *Local) List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, error) {
	if err := l.App.Servers.Await(ctx, l.servers); err != nil {
		return nil, err
	}
	raw, _ := l.App.Pipeline.List(ctx, kind, profile)
	return raw, nil
}

// Servers returns the MCP servers with their states.
func (l *Local) Servers(context.Context) ([]tool.ServerStatus, error) {
	return l.App.Servers.List(), nil
}

// Restart stops a server and starts it.
func (l *Local) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.App.Servers.Restart(ctx, name)
}

// Refresh makes a server send its lists.
func (l *Local) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.App.Servers.Refresh(ctx, name)
}

// Start starts a server that is not running.
func (l *Local) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.App.Servers.Start(ctx, name)
}

// Changes returns the definitions that differ from the approved ones, by tool.
func (l *Local) Changes(_ context.Context, name string) (map[string]tool.DefinitionChange, error) {
	return l.App.Servers.Changes(name)
}

// Approve approves the definitions in shown, which has their hashes by tool, and returns how many there were.
func (l *Local) Approve(ctx context.Context, name string, shown map[string]string) (int, error) {
	return l.App.Servers.Approve(ctx, name, shown)
}

// Call runs a call through the pipeline.
func (l *Local) Call(ctx context.Context, c tool.Request) (tool.Result, error) {
	return l.App.Pipeline.Do(ctx, c)
}

// FlushCache writes pending changes of the tool cache.
func (l *Local) FlushCache(ctx context.Context) error { return l.App.ToolCache.Flush(ctx) }

// Rest stops a server that was started here.
func (l *Local) Rest(ctx context.Context, name string) { _, _ = l.App.Servers.Stop(ctx, name) }

// Close closes the app and everything it has started.
func (l *Local) Close() { l.program.Stop(l.App) }

// startingNote is how long servers may take to start before a note is printed.
const startingNote = time.Second

// WhileStarting prints once which servers of b are still starting after startingNote, unless stop is called before.
func (p *Program) WhileStarting(ctx context.Context, b Backend) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(startingNote):
		}
		servers, err := b.Servers(ctx)
		if err != nil {
			return
		}
		var starting []string
		for _, s := range servers {
			if s.State == tool.StateStarting {
				starting = append(starting, s.Name)
			}
		}
		if len(starting) > 0 {
			p.Note("starting %s (a first run may download) …", strings.Join(starting, ", "))
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
