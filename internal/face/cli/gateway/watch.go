package gateway

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"

	"collie/internal/app"
	"collie/internal/config"
)

// watcher applies changes of the settings to a running gateway: [commands.watch] drives it, and Reread has it read the
// settings at once.
type watcher struct {
	app  *app.App
	log  *slog.Logger
	tell func(*config.Config) // called when new settings were applied; may be nil

	ask   chan func() // requests to read the settings at once
	ended chan struct{}

	mu    sync.Mutex
	wrong error // of the settings as they are in the files; nil if they are valid
}

func newWatcher(a *app.App, log *slog.Logger, tell func(*config.Config)) *watcher {
	return &watcher{app: a, log: log, tell: tell, ask: make(chan func()), ended: make(chan struct{})}
}

// Reread reads the settings now, and returns when the changes are in effect.
func (w *watcher) Reread(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case w.ask <- func() { close(done) }:
	case <-w.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-done:
	case <-w.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// watch applies changes of the settings until ctx ends. If they are invalid, the old ones stay in effect and
// Wrong returns the error.
func (p commands) watch(ctx context.Context, cfg *config.Config, w *watcher) {
	before := cfg
	defer close(w.ended)
	config.Watch(ctx, cfg, p.Options(), config.WatchOptions{Extra: w.app.WatchedFiles, Now: w.ask, Logger: w.log}, func(now *config.Config, err error) {
		w.mu.Lock()
		w.wrong = err
		w.mu.Unlock()
		if err != nil {
			w.log.Error("the settings are wrong, the running ones stay", "error", err)
			return
		}
		w.app.Reload(now)
		if names := needRestart(before, now); len(names) > 0 {
			w.log.Warn("these settings take effect with the next start", "sections", names)
		}
		before = now
		if w.tell != nil {
			w.tell(now)
		}
	})
}

// Wrong returns what is wrong with the present settings; empty if nothing is.
func (w *watcher) Wrong() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong == nil {
		return ""
	}
	return w.wrong.Error()
}

// appliedFields are the fields of [config.Config] that a running gateway applies, or that are not settings.
var appliedFields = []string{"Paths", "Files", "Project", "Web", "SiYuan", "Vault", "Profiles", "Context", "Providers", "Models", "Agent", "Guard", "Servers", "Inputs", "Warnings"}

// needRestart returns the sections that differ and that a running gateway does not apply.
func needRestart(a, b *config.Config) []string {
	x := *a
	x.MCP.Enabled, x.MCP.Registry, x.HTTP.ElicitationConfirms = b.MCP.Enabled, b.MCP.Registry, b.HTTP.ElicitationConfirms // single settings that it does apply
	x.HTTP.Addr, x.HTTP.TLSCert, x.HTTP.TLSKey = b.HTTP.Addr, b.HTTP.TLSCert, b.HTTP.TLSKey
	x.HTTP.PublicURL, x.HTTP.TrustedProxies = b.HTTP.PublicURL, b.HTTP.TrustedProxies
	x.HTTP.AddrSet, x.HTTP.AllowedHosts, x.HTTP.AllowedOrigins = b.HTTP.AddrSet, b.HTTP.AllowedHosts, b.HTTP.AllowedOrigins
	var names []string
	before, now := reflect.ValueOf(x), reflect.ValueOf(*b)
	for i := range before.NumField() {
		field := before.Type().Field(i)
		if !field.IsExported() || slices.Contains(appliedFields, field.Name) {
			continue
		}
		if !reflect.DeepEqual(before.Field(i).Interface(), now.Field(i).Interface()) {
			names = append(names, strings.ToLower(field.Name))
		}
	}
	return names
}

// followSettings applies changes of the settings to a gateway that serves one client, until stop is called.
func (p commands) followSettings(ctx context.Context, a *app.App) (stop func()) {
	cfg, err := p.Load()
	if err != nil {
		return func() {} // they could be read a moment ago, so the gateway continues with those
	}
	log, err := p.Logger()
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { p.watch(ctx, cfg, newWatcher(a, log, nil)) })
	return func() {
		cancel()
		watching.Wait()
	}
}
