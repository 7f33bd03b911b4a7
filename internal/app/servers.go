package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/tool"
)

// reserved are names that no server may have.
var reserved = []string{"collie", "siyuan"}

// RuleUnset is the rule of a finding about a variable that is not set here and now.
const RuleUnset = entry.RuleUnset

// Specs reads the server entries of cfg. Findings have their places in the files.
func Specs(cfg *config.Config, env config.Env) ([]upstream.Spec, []config.Finding) {
	var specs []upstream.Spec
	var findings []config.Finding
	names := make([]string, len(cfg.Servers))
	for i, s := range cfg.Servers {
		names[i] = s.Name
	}
	wrong := checkNames(cfg, names)
	secrets := newSecretLookup(cfg)
	for _, s := range cfg.Servers {
		o := entry.Options{
			Dir: s.Dir, Workspace: s.Workspace, Env: env.Lookup, ReadFile: os.ReadFile,
			ToolTimeout: cfg.MCP.Limits.CallTimeout, MaxToolTimeout: cfg.MCP.Limits.MaxCallTimeout,
			Cache: &entry.Cache{Enabled: cfg.Cache.Enabled, MaxAge: cfg.Cache.MaxAge, MaxStale: cfg.Cache.MaxStale},
		}
		if !s.Untrusted {
			o.Secret = secrets.get
			o.Input = func(id string) (string, bool) { return s.Answer(id, nil) } // a gateway can ask nobody
		}
		e, problems := entry.Parse(s.Name, s.Raw, o)
		if s.Untrusted {
			problems = nil // nobody has looked at it yet
		}
		if p, ok := wrong[s.Name]; ok {
			problems = append(problems, p)
		}
		for _, p := range problems {
			findings = append(findings, s.Finding(p.Pointer, p.Rule, config.Severity(p.Severity), p.Message))
		}
		spec := upstream.Spec{Entry: e, Problems: problems}
		if s.Untrusted {
			spec.Off = "untrusted"
		}
		specs = append(specs, spec)
	}
	return specs, findings
}

// checkNames returns what is wrong with the names of servers, by name. The names of the tools for notes are never a
// server's: what is asked of them has notes in it, and whoever calls fs means no other.
func checkNames(cfg *config.Config, names []string) map[string]entry.Problem {
	wrong := entry.CheckNames(names, reserved)
	for _, name := range names {
		if !slices.Contains(ReservedNames(cfg), strings.ToLower(name)) || slices.Contains(reserved, strings.ToLower(name)) {
			continue
		}
		if wrong == nil {
			wrong = map[string]entry.Problem{}
		}
		wrong[name] = entry.Problem{
			Rule: "R-CV-2", Severity: entry.SeverityError,
			Message: fmt.Sprintf("%q is the name of a tool for notes, and a server cannot have it; choose another, such as %[1]s-server "+
				"(collie mcp rename), and \"prefix\" says what the names of its tools begin with", name),
		}
	}
	return wrong
}

// ReservedNames are all names in lower case that no server of cfg may have.
func ReservedNames(cfg *config.Config) []string {
	if !cfg.SiYuan.Enabled {
		return reserved
	}
	return slices.Concat(reserved, ownTools)
}

// Owners are the servers of cfg that may own what name stands for: a server, "server/tool",
// or the name that clients see, which begins with the server's prefix. A server with the
// empty prefix may own any name that is nobody else's.
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

// Servers is the handle on the upstream servers.
type Servers struct {
	set *upstream.Set
	// reread looks at the settings again: what they refer to, such as a secret, may be another
	// one now.
	reread func()
}

// List returns the state of every server, in the order of the settings.
func (s Servers) List() []tool.ServerStatus {
	out := []tool.ServerStatus{}
	var groups []int
	for _, srv := range s.set.Servers() {
		st := srv.Status()
		if st.PID > 0 {
			groups = append(groups, st.PID)
		}
		out = append(out, st)
	}
	if len(groups) > 0 {
		memory := process.GroupMemory(groups)
		for i := range out {
			out[i].Memory = memory[out[i].PID]
		}
	}
	return out
}

// Dropped counts answers that nobody waited for, by server.
func (s Servers) Dropped() map[string]uint64 {
	out := map[string]uint64{}
	for _, srv := range s.set.Servers() {
		out[srv.Name()] = srv.Status().Dropped
	}
	return out
}

// Start starts a server and returns when it is ready or has failed. What failed before is
// forgotten.
func (s Servers) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	s.reread()
	return s.do(ctx, name, (*upstream.Server).Start)
}

// Restart stops a server, if it runs, and starts it.
func (s Servers) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	s.reread()
	return s.do(ctx, name, (*upstream.Server).Restart)
}

// Stop stops a server until it is called again.
func (s Servers) Stop(ctx context.Context, name string) (tool.ServerStatus, error) {
	return s.do(ctx, name, func(srv *upstream.Server, ctx context.Context) error {
		srv.Stop(ctx)
		return nil
	})
}

// Refresh fetches the lists of a server from the server itself, starting it if need be.
func (s Servers) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return s.do(ctx, name, (*upstream.Server).Refresh)
}

func (s Servers) do(ctx context.Context, name string, what func(*upstream.Server, context.Context) error) (tool.ServerStatus, error) {
	srv, err := s.find(name)
	if err != nil {
		return tool.ServerStatus{}, err
	}
	err = what(srv, ctx)
	return srv.Status(), err
}

// Changes are the tools of a server whose definitions differ from their pins, by name.
func (s Servers) Changes(name string) (map[string]tool.DefinitionChange, error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	out := map[string]tool.DefinitionChange{}
	for name, ch := range srv.Changes() {
		out[name] = tool.DefinitionChange{Fields: ch.Fields, Was: ch.Was, Now: ch.Now, SeenAt: ch.SeenAt}
	}
	return out, nil
}

// Approve accepts changed definitions of a server, all of them if no tool is named, and returns
// how many there were.
func (s Servers) Approve(ctx context.Context, name string, tools []string) (int, error) {
	srv, err := s.find(name)
	if err != nil {
		return 0, err
	}
	return srv.Approve(ctx, tools...)
}

func (s Servers) find(name string) (*upstream.Server, error) {
	if srv := s.set.Server(name); srv != nil {
		return srv, nil
	}
	return nil, s.unknown(name)
}

func (s Servers) unknown(name string) error {
	var known []string
	for _, srv := range s.set.Servers() {
		known = append(known, srv.Name())
	}
	e := &tool.Error{Op: "find server", Kind: tool.Unknown, Subject: name, Message: "no server of that name", Hint: "collie mcp list shows them"}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// Await waits until the first start of servers is over, whatever came of it: of all that
// were to start if names is nil. Names that are unknown, and servers that were not to start,
// are not waited for. The error is ctx's.
func (s Servers) Await(ctx context.Context, names []string) error {
	for _, srv := range s.set.Servers() {
		if names != nil && !slices.Contains(names, srv.Name()) {
			continue
		}
		select {
		case <-srv.Started():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Started is closed when every server that was to start is ready or has failed.
func (s Servers) Started() <-chan struct{} { return s.set.Started() }

// OpenLog returns the log file of a gateway, which is rotated, or why it cannot be written.
// Each Write is one line or several. Several processes may have it, and it needs no Close.
func OpenLog(l config.Log) (io.Writer, error) {
	f := &serverlog.File{Path: l.File, MaxSize: l.MaxSize, Files: l.Files}
	return f, f.Check()
}

// logFiles says where servers' logs go.
func logFiles(cfg *config.Config) upstream.LogFiles {
	l := cfg.MCP.Logs
	if !l.Enabled {
		return upstream.LogFiles{}
	}
	return upstream.LogFiles{Dir: filepath.Join(cfg.Paths.State, "logs", "mcp"), MaxSize: l.MaxSize, Files: l.Files}
}

// ServerLog is where the log of a server is kept; empty for what cannot be a server's name.
func ServerLog(paths config.Paths, server string) string {
	if len(entry.CheckNames([]string{server}, nil)) > 0 {
		return ""
	}
	return filepath.Join(paths.State, "logs", "mcp", server+".log")
}

// TailServerLog yields what f wants of a server's log file, oldest first, whoever wrote it,
// for commands that need no [App]. A log that nobody has written to is empty.
func TailServerLog(ctx context.Context, paths config.Paths, server string, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return serverlog.Tail(ctx, ServerLog(paths, server), f)
}

// Tail yields what f wants of a server's log, oldest first, and with f.Follow what comes,
// until ctx ends.
func (s Servers) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return srv.Tail(ctx, f), nil
}
