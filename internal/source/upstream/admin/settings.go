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

// Configured is what the settings alone say of a server.
type Configured struct {
	// Status is that of a server that nobody has started; Since is zero.
	Status      tool.ServerStatus
	Title       string // for people; may be empty
	Description string // for people; may be empty
	Package     string // what a package runner is to run; empty if it is none or not plain
	File        string // where it is defined
	Line        int
}

// ReadServers returns the servers of cfg in their order, and what the cache knows of them. It
// starts nothing and touches nothing.
func ReadServers(ctx context.Context, cfg *config.Config, env config.Env) []Configured {
	specs, _ := Specs(cfg, env)
	kept, key := cacheadmin.Peek(ctx, cfg)
	defer kept.Close()
	o := Options(cfg, env)
	o.Cache, o.Key, o.Peek = kept, key, true
	o.Logs = upstream.LogFiles{} // that a server is off would be written into its log
	if kept != nil {
		o.Pins = OpenPins(cfg, nil)
		defer o.Pins.Close()
	}
	set := upstream.NewSet(specs, o)
	defer set.Close(ctx) // nothing runs
	set.Peek()
	out := make([]Configured, len(specs))
	for i, srv := range set.Servers() {
		e := specs[i].Entry
		out[i] = Configured{
			Status: srv.Status(), Title: e.DisplayName, Description: e.Description, Package: e.Package,
			File: cfg.Servers[i].File,
		}
		out[i].Status.Since = time.Time{}
		out[i].Line, _ = cfg.Servers[i].Position("")
	}
	return out
}

// Program is what a server would run.
type Program struct {
	Server string
	Name   string // as it is configured
	Path   string // where that is, seen with the environment of the child; empty if nowhere
	Err    error  // why it would not start: a [*process.StartError]
	Reason string // the stable code of Err
	Hint   string // what to do about Err
}

// Programs looks up what the stdio servers of cfg would run. Servers that are off or wrong
// are left out.
func Programs(cfg *config.Config, env config.Env) []Program {
	var out []Program
	specs, _ := Specs(cfg, env)
	for _, s := range specs {
		e := s.Entry
		if e.Disabled || e.Transport != entry.Stdio || unusable(s) {
			continue
		}
		environ := entry.Environment(e, env.List(), entry.EnvironmentOptions{Deny: cfg.MCP.EnvDeny})
		p := Program{Server: e.Name, Name: e.Command.String()}
		p.Path, p.Err = process.Resolve(e.Command.Reveal(), environ, e.Dir)
		if p.Err == nil && slices.Contains(ofNode, filepath.Base(p.Name)) {
			_, p.Err = process.Resolve("node", environ, e.Dir)
		}
		if p.Err != nil {
			if p.Hint = upstream.InstallHint(p.Name); reasonOf(p.Err) == process.PermissionDenied {
				p.Hint = "make it executable, as with chmod +x, or name the program that runs it as the command"
			}
		} else if info, err := os.Stat(e.Dir); !toBeMade(cfg, e.Dir, err) && (err != nil || !info.IsDir()) {
			p.Err = &process.StartError{Reason: process.BadDir, Name: p.Name, Dir: e.Dir, Err: err}
			p.Hint = "make that folder, or change cwd"
		}
		p.Reason = string(reasonOf(p.Err))
		out = append(out, p)
	}
	return out
}

// toBeMade reports whether a folder is not there yet and will be with the settings: servers start
// in the folder of the file that defines them unless they say otherwise.
func toBeMade(cfg *config.Config, dir string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) && dir == cfg.Paths.Config
}

func reasonOf(err error) process.Reason {
	if e, ok := errors.AsType[*process.StartError](err); ok {
		return e.Reason
	}
	return ""
}

// ofNode are scripts that Node runs.
var ofNode = []string{"npx", "npm", "pnpm", "pnpx", "yarn"}

// unusable reports whether an entry has an error.
func unusable(s upstream.Spec) bool {
	return slices.ContainsFunc(s.Problems, func(p entry.Problem) bool { return p.Severity == entry.SeverityError })
}
