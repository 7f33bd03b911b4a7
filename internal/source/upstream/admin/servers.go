// Package admin lets people manage MCP servers: list them with their state, read their logs, start and stop them,
// sign in to them and diagnose them.
//
// [Specs] reads the server entries of the settings, and [Options] the settings for all servers. Package app makes a
// Set from both; [Servers] manages it.
package admin

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"collie/internal/config"
	"collie/internal/process"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/tool"
)

// Servers manages the upstream servers of a running program.
type Servers struct {
	Set *upstream.Set
	// Reread reloads the settings, since what they refer to, such as a secret, may have changed.
	Reread func()
}

// List returns the state of every server, in the order of the settings.
func (s Servers) List() []tool.ServerStatus {
	out := []tool.ServerStatus{}
	var groups []int
	for _, srv := range s.Set.Servers() {
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

// Dropped returns, by server, how many answers arrived that no request waited for.
func (s Servers) Dropped() map[string]uint64 {
	out := map[string]uint64{}
	for _, srv := range s.Set.Servers() {
		out[srv.Name()] = srv.Status().Dropped
	}
	return out
}

// Start starts a server, forgetting earlier failures, and returns when it is ready or has failed.
func (s Servers) Start(ctx context.Context, name string) (tool.ServerStatus, error) {
	s.Reread()
	return s.do(ctx, name, (*upstream.Server).Start)
}

// Restart stops a server if it runs, and starts it.
func (s Servers) Restart(ctx context.Context, name string) (tool.ServerStatus, error) {
	s.Reread()
	return s.do(ctx, name, (*upstream.Server).Restart)
}

// Stop stops a server until it is called again.
func (s Servers) Stop(ctx context.Context, name string) (tool.ServerStatus, error) {
	return s.do(ctx, name, func(srv *upstream.Server, ctx context.Context) error {
		srv.Stop(ctx)
		return nil
	})
}

// Refresh fetches the lists of a server from the server itself, which is started if need be.
func (s Servers) Refresh(ctx context.Context, name string) (tool.ServerStatus, error) {
	return s.do(ctx, name, (*upstream.Server).Refresh)
}

func (s Servers) do(ctx context.Context, name string, action func(*upstream.Server, context.Context) error) (tool.ServerStatus, error) {
	srv, err := s.find(name)
	if err != nil {
		return tool.ServerStatus{}, err
	}
	err = action(srv, ctx)
	return srv.Status(), err
}

// Changes returns, by name, the tools of a server whose definitions differ from their pins.
func (s Servers) Changes(name string) (map[string]tool.DefinitionChange, error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	out := map[string]tool.DefinitionChange{}
	for name, ch := range srv.Changes() {
		out[name] = tool.DefinitionChange{Fields: ch.Fields, Hash: ch.Hash, Was: ch.Was, Now: ch.Now, SeenAt: ch.SeenAt}
	}
	return out, nil
}

// Approve accepts the changed definitions of a server that a person was shown, and returns how many it accepted. shown has
// their hashes by tool.
func (s Servers) Approve(ctx context.Context, name string, shown map[string]string) (int, error) {
	srv, err := s.find(name)
	if err != nil {
		return 0, err
	}
	return srv.Approve(ctx, shown)
}

func (s Servers) find(name string) (*upstream.Server, error) {
	if srv := s.Set.Server(name); srv != nil {
		return srv, nil
	}
	var known []string
	for _, srv := range s.Set.Servers() {
		known = append(known, srv.Name())
	}
	return nil, unknownServerError("find server", name, known)
}

// unknownServerError returns the error for a name that no server has.
func unknownServerError(op, name string, known []string) error {
	e := &tool.Error{Op: op, Kind: tool.NotFound, Subject: name, Message: "no server of that name", Hint: "collie mcp list shows them"}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// Await waits until the first start of the named servers is over, successful or not; nil names mean all. It ignores
// unknown names and servers that were not to start. The error is ctx's.
func (s Servers) Await(ctx context.Context, names []string) error {
	for _, srv := range s.Set.Servers() {
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

// Started returns a channel that is closed when every server that was to start is ready or has failed.
func (s Servers) Started() <-chan struct{} { return s.Set.Started() }

// ServerLog returns the path of a server's log; empty if server is not a valid name.
func ServerLog(paths config.Paths, server string) string {
	if len(entry.CheckNames([]string{server}, nil)) > 0 {
		return ""
	}
	return filepath.Join(paths.State, "logs", "mcp", server+".log")
}

// TailServerLog yields the lines of a server's log file that match f, oldest first, for commands that run without a
// gateway. A missing file counts as empty.
func TailServerLog(ctx context.Context, paths config.Paths, server string, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return serverlog.Tail(ctx, ServerLog(paths, server), f)
}

// Tail yields the lines of a server's log that match f, oldest first. With f.Follow it goes on with new lines until
// ctx ends.
func (s Servers) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return srv.Tail(ctx, f), nil
}
