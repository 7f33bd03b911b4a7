package app

import (
	"context"

	"collie/internal/config"
	firewalladmin "collie/internal/pipeline/firewall/admin"
	"collie/internal/source/upstream"
	serveradmin "collie/internal/source/upstream/admin"
)

// Reload applies cfg to the running App. New servers start; servers that are gone or whose identity has
// changed stop; all others are not disturbed. Profiles are replaced, as are the settings of firewall, guardian,
// notifications, notes and models. Others, such as those of the audit and the log, keep their values until a restart.
func (a *App) Reload(cfg *config.Config) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.applyLocked(cfg)
	a.log.Info("settings read again", "servers", len(cfg.Servers))
}

// reapply applies the current settings again, because the values behind their references may have changed. With a new
// secret, or a changed file of variables, the same entry can mean a different server.
func (a *App) reapply() {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.applyLocked(a.cfg)
}

// RereadValues applies the current settings again, after somebody has changed a secret that they name.
func (a *App) RereadValues() { a.reapply() }

// applyLocked is Reload; the caller holds a.reloading.
func (a *App) applyLocked(cfg *config.Config) {
	a.cfg = cfg
	specs, findings := serveradmin.Specs(cfg, a.env)
	for _, f := range findings {
		a.log.Warn("settings", "finding", f.String())
	}
	a.hide(secrets(cfg, a.env, specs))
	a.set.Apply(specs)
	a.firewall.Use(firewalladmin.Settings(cfg))
	a.guardian.Use(guardianSettings(cfg))
	if a.notices != nil {
		a.notices.Use(notifySettings(cfg, a.env, a.hide))
	}
	a.Notes.open(context.Background(), cfg) // no caller's context: what it starts outlives the caller
	a.catalog.Set(a.sources(), profiles(cfg, a.Notes.profiles()), reservedTools(cfg))
	if err := a.host.apply(cfg); err != nil {
		a.log.Warn("providers of models", "error", err)
	}
}

// WatchedFiles returns the files besides the settings whose content matters: the envFile of each server.
func (a *App) WatchedFiles(cfg *config.Config) []string {
	if cfg == a.first { // its entries were parsed when the App was opened
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
