package admin

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/toolcache"
)

// This file reads the servers of the settings, and makes the options for the set of all of them.

// ruleUnset is the rule of a finding about a variable that is not set in this environment.
const ruleUnset = entry.RuleUnset

// Specs reads the server entries of cfg, in order. The findings tell their place in the files.
func Specs(cfg *config.Config, env config.Env) ([]upstream.Spec, []config.Finding) {
	var specs []upstream.Spec
	var findings []config.Finding
	names := make([]string, len(cfg.Servers))
	for i, s := range cfg.Servers {
		names[i] = s.Name
	}
	wrong := checkNames(cfg, names)
	secrets := secretadmin.NewLookup(cfg)
	for _, s := range cfg.Servers {
		o := entry.Options{
			Dir: s.Dir, Workspace: s.Workspace, Env: env.Lookup, ReadFile: os.ReadFile,
			ToolTimeout: cfg.MCP.Limits.CallTimeout, MaxToolTimeout: cfg.MCP.Limits.MaxCallTimeout,
			Cache: &entry.Cache{Enabled: cfg.Cache.Enabled, MaxAge: cfg.Cache.MaxAge, MaxStale: cfg.Cache.MaxStale},
		}
		if !s.Untrusted {
			o.Secret = secrets.Get
			o.Input = func(id string) (string, bool) { return s.Answer(id, nil) } // a gateway cannot ask a person
		}
		e, problems := entry.Parse(s.Name, s.Raw, o)
		if s.Untrusted {
			problems = nil // an untrusted entry has not been looked at
		}
		if p, ok := wrong[s.Name]; ok {
			problems = append(problems, p)
		}
		for _, p := range problems {
			findings = append(findings, s.Finding(p.Pointer, p.Rule, config.Severity(p.Severity), p.Message))
		}
		spec := upstream.Spec{Entry: e, Problems: problems}
		switch {
		case s.Untrusted: // says more than "disabled", and also applies to a diagnosis of a disabled server
			spec.Off = "untrusted"
		case !cfg.MCP.Enabled:
			spec.Off = mcpDisabled
		}
		specs = append(specs, spec)
	}
	return specs, findings
}

// mcpDisabled is the code for servers that are off because the settings switch all servers off.
const mcpDisabled = "mcp_disabled"

// checkNames returns the problems of server names, by name. The names of the notes tools are reserved: calls of them
// carry notes, which must never reach a server that took such a name.
func checkNames(cfg *config.Config, names []string) map[string]entry.Problem {
	wrong := entry.CheckNames(names, cfg.ReservedNames())
	for name := range wrong {
		if !cfg.SiYuan.Enabled || !slices.Contains(config.NotesTools(), strings.ToLower(name)) {
			continue
		}
		wrong[name] = entry.Problem{
			Rule: "R-CV-2", Severity: entry.SeverityError,
			Message: fmt.Sprintf("%q is the name of a tool for notes, and a server cannot have it; choose another, such as %[1]s-server "+
				"(collie mcp rename), and \"prefix\" says what the names of its tools begin with", name),
		}
	}
	return wrong
}

// Owners returns the servers of cfg that may own what name stands for: a server, "server/tool", or an exposed name,
// which begins with the server's prefix. If no server owns it by that, those that have an empty prefix, or whose name and
// "__" the exposed name begins with, may own it.
func Owners(cfg *config.Config, env config.Env, name string) []string {
	specs, _ := Specs(cfg, env)
	var exact, prefixed, bare []string
	for _, s := range specs {
		switch e := s.Entry; {
		case name == e.Name || strings.HasPrefix(name, e.Name+"/"):
			exact = append(exact, e.Name)
		case e.Prefix == "" || strings.HasPrefix(name, e.Name+"__"):
			bare = append(bare, e.Name)
		case strings.HasPrefix(name, e.Prefix):
			prefixed = append(prefixed, e.Name)
		}
	}
	switch {
	case exact != nil:
		return exact
	case prefixed != nil:
		return prefixed
	}
	return append([]string{}, bare...)
}

// Options returns the settings for all servers together. The caller adds the cache, pins, tokens, reaper and Info.
func Options(cfg *config.Config, env config.Env) upstream.Options {
	c := &cfg.Cache
	return upstream.Options{
		MaxFrame: int(cfg.MCP.Limits.MaxFrame), Starts: int64(cfg.MCP.MaxParallelStarts), RunnerStarts: int64(cfg.MCP.MaxRunnerStarts),
		Environ: env.List(), Deny: cfg.MCP.EnvDeny, Home: env.Get("HOME"), Drain: cfg.MCP.Drain,
		RunDir: runDir(cfg), LockDir: runDir(cfg), Logs: logFiles(cfg), Portable: cfg.Cache.SharedIdentity == "portable",
		Policy: upstream.Policy{
			Warmup: c.Warmup, RefreshStale: c.RefreshStale, ServeOldOnChange: c.ServeOldOnChange,
			RefreshEvery: c.RefreshInterval, RefreshStarts: c.RefreshStartsServers,
		},
	}
}

// OpenPins opens the store of the tools' definitions as they were first seen. The caller closes it. Brief is for a
// process that ends soon.
func OpenPins(cfg *config.Config, log *slog.Logger, brief bool) *pins.Store {
	return pins.Open(filepath.Join(cfg.Paths.State, "pins.json"), toolcache.ToolHash, pins.Options{Logger: log, PollOnly: brief})
}

// runDir returns the folder of container ids, and of the lock files that keep two processes from refreshing one
// token.
func runDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "run") }

// logFiles returns where servers' logs go.
func logFiles(cfg *config.Config) upstream.LogFiles {
	l := cfg.MCP.Logs
	if !l.Enabled {
		return upstream.LogFiles{}
	}
	return upstream.LogFiles{Dir: logDir(cfg.Paths), MaxSize: l.MaxSize, Files: l.Files}
}

func logDir(paths config.Paths) string { return filepath.Join(paths.State, "logs", "mcp") }
