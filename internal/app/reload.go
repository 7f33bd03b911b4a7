package app

import (
	"context"

	"collie/internal/config"
	"collie/internal/source/upstream"
	serveradmin "collie/internal/source/upstream/admin"
)

// Reload makes cfg the settings of what runs: servers that are new start, those that are gone
// or have become other ones stop, all others go on undisturbed; profiles are new.
// What only a new start can change is named in the log.
func (a *App) Reload(cfg *config.Config) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.reload(cfg)
	a.log.Info("settings read again", "servers", len(cfg.Servers))
}

// reread makes the settings that run again of what they refer to: a secret or a variable's file
// that has changed makes another server of the entry that names it.
func (a *App) reread() {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.reload(a.cfg)
}

// reload is Reload; a.reloading is held.
func (a *App) reload(cfg *config.Config) {
	a.cfg = cfg
	specs, findings := serveradmin.Specs(cfg, a.env)
	for _, f := range findings {
		a.log.Warn("settings", "finding", f.String())
	}
	a.hide(secrets(specs))
	a.set.Apply(specs)
	a.Notes.open(context.Background(), cfg) // what it starts lasts longer than any caller
	a.catalog.Set(a.sources(), profiles(cfg, a.Notes.profiles()), reservedTools(cfg))
	if err := a.host.use(cfg); err != nil {
		a.log.Warn("providers of models", "error", err)
	}
}

// WatchedFiles names files besides the settings whose contents count: the envFile of each server.
func (a *App) WatchedFiles(cfg *config.Config) []string {
	if cfg == a.first { // whose entries have just been parsed
		return a.firstFiles
	}
	specs, _ := serveradmin.Specs(cfg, a.env)
	return envFiles(specs)
}

func envFiles(specs []upstream.Spec) (out []string) {
	for _, s := range specs {
		if s.Entry.EnvFile != "" {
			out = append(out, s.Entry.EnvFile)
		}
	}
	return out
}
