package app

import (
	"collie/internal/config"
	"collie/internal/source/upstream"
)

// Reload makes cfg the settings of what runs: servers that are new start, those that are gone
// or have become other ones stop, all others go on undisturbed; profiles are new (R-CF-5).
// What only a new start can change is named in the log. It is not called twice at once.
func (a *App) Reload(cfg *config.Config) {
	specs, findings := Specs(cfg, a.env)
	for _, f := range findings {
		a.log.Warn("settings", "finding", f.String())
	}
	a.Audit.Hide(secrets(specs))
	a.set.Apply(switched(specs, cfg.MCP.Enabled))
	a.catalog.Set(a.set.Sources(), profiles(cfg))
	a.log.Info("settings read again", "servers", len(specs))
}

// switched is specs, all of them off where MCP servers are off altogether.
func switched(specs []upstream.Spec, on bool) []upstream.Spec {
	if on {
		return specs
	}
	out := make([]upstream.Spec, len(specs))
	for i, s := range specs {
		s.Off = "mcp_disabled"
		out[i] = s
	}
	return out
}

// WatchedFiles returns the function that names files besides the settings whose contents count:
// the envFile of each server.
func WatchedFiles(env config.Env) func(*config.Config) []string {
	return func(cfg *config.Config) []string {
		specs, _ := Specs(cfg, env)
		var out []string
		for _, s := range specs {
			if s.Entry.EnvFile != "" {
				out = append(out, s.Entry.EnvFile)
			}
		}
		return out
	}
}
