package admin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file tells what the settings alone say of servers, without starting any.

// Configured describes a server by its settings alone.
type Configured struct {
	// Status is the state of a server that was not started; Since is zero.
	Status      tool.ServerStatus
	Title       string // for people; may be empty
	Description string // for people; may be empty
	Package     string // the package that a package runner runs; empty if there is none or it is unknown
	Registry    string // NAME@VERSION in a registry that filled the entry in
	File        string // file that defines it
	Line        int
}

// ReadServers returns the servers of cfg in order, with what the cache knows of them. It starts no server and changes
// no file.
func ReadServers(ctx context.Context, cfg *config.Config, env config.Env) []Configured {
	specs, _ := Specs(cfg, env)
	cache, key := cacheadmin.OpenForReading(ctx, cfg)
	defer cache.Close()
	o := Options(cfg, env)
	o.Cache, o.Key, o.Peek = cache, key, true
	o.Logs = upstream.LogFiles{} // the constructor would log that a server is off
	if cache != nil {
		o.Pins = OpenPins(cfg, nil, true)
		defer o.Pins.Close()
	}
	set := upstream.NewSet(specs, o)
	defer set.Close(ctx) // nothing runs
	set.Peek()
	out := make([]Configured, len(specs))
	for i, srv := range set.Servers() {
		e := specs[i].Entry
		out[i] = Configured{
			Status: srv.Status(), Title: e.DisplayName, Description: e.Description, Package: e.Package, Registry: e.Registry,
			File: cfg.Servers[i].File,
		}
		out[i].Status.Since = time.Time{}
		out[i].Line, _ = cfg.Servers[i].Position("")
	}
	return out
}

// Program is the program of a stdio server.
type Program struct {
	Server string
	Name   string // as it is configured
	Path   string // where the child's PATH finds it; empty if nowhere
	Err    error  // why it would not start: a [*process.StartError]
	Reason string // the stable code of Err
	Hint   string // what to do about Err
}

// Programs looks up the programs of the stdio servers in cfg, except servers that are off or invalid.
func Programs(cfg *config.Config, env config.Env) []Program {
	var out []Program
	specs, _ := Specs(cfg, env)
	for _, s := range specs {
		e := s.Entry
		if e.Disabled || e.Transport != entry.Stdio || hasErrors(s) {
			continue
		}
		environ := entry.Environment(e, env.List(), entry.EnvironmentOptions{Deny: cfg.MCP.EnvDeny})
		p := Program{Server: e.Name, Name: e.Command.String()}
		p.Path, p.Err = process.Resolve(e.Command.Reveal(), environ, e.Dir)
		if p.Err == nil && slices.Contains(nodeScripts, filepath.Base(p.Name)) {
			_, p.Err = process.Resolve("node", environ, e.Dir)
		}
		if p.Err != nil {
			if p.Hint = upstream.InstallHint(p.Name); reasonOf(p.Err) == process.PermissionDenied {
				p.Hint = "make it executable, as with chmod +x, or name the program that runs it as the command"
			}
		} else if info, err := os.Stat(e.Dir); !isMissingSettingsDir(cfg, e.Dir, err) && (err != nil || !info.IsDir()) {
			p.Err = &process.StartError{Reason: process.BadDir, Name: p.Name, Dir: e.Dir, Err: err}
			p.Hint = "make that folder, or change cwd"
		}
		p.Reason = string(reasonOf(p.Err))
		out = append(out, p)
	}
	return out
}

// ProgramFound returns a function that reports whether servers could be started with a program.
func ProgramFound(env config.Env) func(program string) bool {
	return func(program string) bool {
		_, err := process.Resolve(program, env.List(), "")
		return err == nil
	}
}

// isMissingSettingsDir reports whether dir is the settings folder and does not exist yet. Servers start there by
// default, and it is created together with the settings file.
func isMissingSettingsDir(cfg *config.Config, dir string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) && dir == cfg.Paths.Config
}

func reasonOf(err error) process.Reason {
	if e, ok := errors.AsType[*process.StartError](err); ok {
		return e.Reason
	}
	return ""
}

// nodeScripts are scripts that are run by Node.
var nodeScripts = []string{"npx", "npm", "pnpm", "pnpx", "yarn"}

// hasErrors reports whether an entry has an error.
func hasErrors(s upstream.Spec) bool {
	return slices.ContainsFunc(s.Problems, func(p entry.Problem) bool { return p.Severity == entry.SeverityError })
}
