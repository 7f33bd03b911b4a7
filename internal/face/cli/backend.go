package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

// backend is where a command gets its answers: a running gateway of this home, or parts
// opened here (D10). It is safe for concurrent use. Close ends it.
type backend interface {
	// Tools is what is on offer, as a profile sees it, those that are off included. It
	// waits until the servers that the backend was opened for have started.
	Tools(ctx context.Context, profile string) ([]tool.Tool, error)
	// List returns the MCP result of a list, byte for byte as clients see it.
	List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, error)
	Servers(ctx context.Context) ([]tool.ServerStatus, error)
	// Restart, Refresh and Start do what they say to a server and return its state then.
	Restart(ctx context.Context, name string) (tool.ServerStatus, error)
	Refresh(ctx context.Context, name string) (tool.ServerStatus, error)
	Start(ctx context.Context, name string) (tool.ServerStatus, error)
	// Changes are the tool definitions of a server that wait for approval, which Approve gives.
	Changes(ctx context.Context, name string) (map[string]tool.DefinitionChange, error)
	Approve(ctx context.Context, name string, tools []string) (int, error)
	// Call takes c down the road, as the person at this terminal.
	Call(ctx context.Context, c *tool.Call) (tool.Result, error)
	// FlushCache writes what the tool cache has not yet written, and returns why that failed.
	FlushCache(ctx context.Context) error
	Close()
}

// backend finds the running gateway of this home, if it has the same settings and the same
// version; else it joins the parts here and starts servers: all if servers is nil, none if
// it is empty.
func (p *program) backend(ctx context.Context, servers []string) (backend, error) {
	cfg, err := p.load()
	if err != nil {
		return nil, err
	}
	log, err := p.logger()
	if err != nil {
		return nil, err
	}
	if !p.local {
		g, same, err := p.findGateway(ctx, cfg)
		switch {
		case err == nil && same:
			if r := newRemote(cfg, g, servers); r.alive(ctx) {
				return r, nil
			}
			log.Info("the gateway of this home does not answer", "url", g.URL)
		case err == nil:
			log.Info(p.otherGateway(&g, cfg))
		case !errors.Is(err, app.ErrNoGateway):
			log.Warn("gateway.json not read", "error", err)
		}
	}
	if p.logLevel == "" && !p.debug {
		log = slog.New(slog.DiscardHandler) // the command itself says what went wrong
	}
	a, err := p.join(ctx, cfg, log, openOptions{servers: servers, brief: true})
	if err != nil {
		return nil, err
	}
	p.aboutKernel(a)
	return &local{program: p, app: a, servers: servers}, nil
}

// localFlag lets a command do without a running gateway.
func (p *program) localFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.local, "local", false, "start the servers here even if a gateway is running")
}

// local is the parts opened in this process.
type local struct {
	program *program
	app     *app.App
	servers []string
}

func (l *local) Tools(ctx context.Context, profile string) ([]tool.Tool, error) {
	if err := l.app.Servers.Await(ctx, l.servers); err != nil {
		return nil, err
	}
	return l.app.Tools(profile), nil
}

func (l *local) List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, error) {
	if err := l.app.Servers.Await(ctx, l.servers); err != nil {
		return nil, err
	}
	raw, _ := l.app.Road.List(ctx, kind, profile)
	return raw, nil
}

func (l *local) Servers(context.Context) ([]tool.ServerStatus, error) {
	return l.app.Servers.List(), nil
}

func (l *local) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.app.Servers.Restart(ctx, name)
}

func (l *local) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.app.Servers.Refresh(ctx, name)
}

func (l *local) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	return l.app.Servers.Start(ctx, name)
}

func (l *local) Changes(_ context.Context, name string) (map[string]tool.DefinitionChange, error) {
	return l.app.Servers.Changes(name)
}

func (l *local) Approve(ctx context.Context, name string, tools []string) (int, error) {
	return l.app.Servers.Approve(ctx, name, tools)
}

func (l *local) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	return l.app.Road.Do(ctx, c)
}

func (l *local) FlushCache(ctx context.Context) error { return l.app.ToolCache.Flush(ctx) }

// Rest stops a server that was started here.
func (l *local) Rest(ctx context.Context, name string) { _, _ = l.app.Servers.Stop(ctx, name) }

func (l *local) Close() { l.program.close(l.app) }

// knownProfile refuses the name of a profile that nobody has set up: the catalog would show
// the default one.
func knownProfile(cfg *config.Config, name string) error {
	if _, ok := cfg.Profiles[name]; ok || name == "" || name == "default" || cfg.SiYuan.Enabled && slices.Contains(app.ProfileNames(), name) {
		return nil
	}
	known := []string{"default"}
	for n := range cfg.Profiles {
		known = append(known, n)
	}
	if cfg.SiYuan.Enabled {
		known = append(known, app.ProfileNames()...)
	}
	slices.Sort(known)
	return usage("there is no profile %q%s\n  profiles: %s", name, didYouMean(name, known), strings.Join(slices.Compact(known), ", "))
}

// didYouMean is a question to end an error with, empty if no known name is near.
func didYouMean(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return "; did you mean " + near + "?"
	}
	return ""
}
