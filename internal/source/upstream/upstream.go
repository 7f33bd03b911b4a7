// Package upstream makes MCP servers into sources: it starts them, speaks the protocol of
// either era with them, keeps their lists and carries what they say both ways.
//
//	Set ─ Server (a tool.Source) ─ conn ─ mcp.Client ─ mcp.Link ─ process or HTTP
//
// A [Set] holds the servers of one configuration, started in parallel; no server waits
// for another, and none takes another one down. A [Server] owns at most one connection of
// each era. What passes through is never decoded and encoded again; the few fields that
// have to change are listed in the architecture, section 8.
//
// What it leaves to others: what names clients see is the catalog's, whether a call may
// run is the pipeline's, and what a configuration entry means is package entry's.
package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// Options are what all servers of a Set share. The zero value works, without guard.
type Options struct {
	// Info is the MCP Implementation object that names us to servers.
	Info json.RawMessage
	// Guard and Ledger make sure that children end with us; either may be nil.
	Guard  *process.Guard
	Ledger *process.Ledger
	// MaxFrame bounds a message from a server in bytes; default 64 MiB.
	MaxFrame int
	// Starts and RunnerStarts bound how many servers start at once, in all and by package
	// runners such as npx; defaults 64 and 4.
	Starts, RunnerStarts int64
	// Environ is our own environment, of which children inherit what their entries allow.
	Environ []string
	// RunDir is a folder for the ids of containers; empty leaves containers alone.
	RunDir string
	// Deny are patterns of variables that are not inherited; nil means the defaults.
	Deny   []string
	Logger *slog.Logger // nil discards
}

// Spec is one server of the configuration, and what is wrong with its entry.
type Spec struct {
	Entry    entry.Entry
	Problems []entry.Problem
}

// wrong says why the entry cannot be used; empty if it can.
func (s *Spec) wrong() string {
	for _, p := range s.Problems {
		if p.Severity == entry.SeverityError {
			return p.Message
		}
	}
	return ""
}

// Set is the servers of one configuration. It is safe for concurrent use. Close ends them.
type Set struct {
	opts    Options
	log     *slog.Logger
	servers []*Server
	settled chan struct{}

	starts, runners *semaphore.Weighted
	packages        turns
}

// NewSet returns the servers that specs describe, in their order. Nothing is started
// before Start, or before a server is called.
func NewSet(specs []Spec, opts Options) *Set {
	if opts.Starts <= 0 {
		opts.Starts = 64
	}
	if opts.RunnerStarts <= 0 {
		opts.RunnerStarts = 4
	}
	if opts.Info == nil {
		opts.Info = json.RawMessage(`{"name":"collie","version":"0"}`)
	}
	s := &Set{
		opts: opts, log: opts.Logger, settled: make(chan struct{}),
		starts: semaphore.NewWeighted(opts.Starts), runners: semaphore.NewWeighted(opts.RunnerStarts),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, spec := range specs {
		s.servers = append(s.servers, newServer(s, spec))
	}
	return s
}

// Start starts servers in parallel and in the background: all if names is nil, else those
// named. It is called once. Servers that are off stay so.
func (s *Set) Start(names []string) {
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		if names == nil || slices.Contains(names, srv.name) {
			wg.Go(srv.startFirst)
		} else {
			close(srv.started)
		}
	}
	go func() { // ends when the last start has, which has a limit
		wg.Wait()
		close(s.settled)
	}()
}

// Settled is closed when every server that Start started is ready or has failed.
func (s *Set) Settled() <-chan struct{} { return s.settled }

// Servers returns the servers in their order.
func (s *Set) Servers() []*Server { return s.servers }

// Sources returns the servers as sources, in their order.
func (s *Set) Sources() []tool.Source {
	out := make([]tool.Source, len(s.servers))
	for i, srv := range s.servers {
		out[i] = srv
	}
	return out
}

// Server returns the server of a name, nil if there is none.
func (s *Set) Server(name string) *Server {
	for _, srv := range s.servers {
		if srv.name == name {
			return srv
		}
	}
	return nil
}

// Close stops all servers in parallel: their stdin is closed, then they are terminated,
// then killed. When ctx ends, the rest is killed at once. It may be called twice.
func (s *Set) Close(ctx context.Context) {
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		wg.Go(func() { srv.close(ctx) })
	}
	wg.Wait()
}

// slot waits for a turn to start a server and returns how to give it back. It may be given
// back more than once.
func (s *Set) slot(ctx context.Context, runner bool) (release func(), err error) {
	if err := s.starts.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	if runner {
		if err := s.runners.Acquire(ctx, 1); err != nil {
			s.starts.Release(1)
			return nil, context.Cause(ctx)
		}
	}
	return sync.OnceFunc(func() {
		s.starts.Release(1)
		if runner {
			s.runners.Release(1)
		}
	}), nil
}

// turns lets one start at a time through for each package, since two downloads of one
// package into one cache get into each other's way (4.2).
type turns struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// turn waits for name's turn and returns how to hand it on. An empty name need not wait.
func (t *turns) turn(ctx context.Context, name string) (done func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	for {
		t.mu.Lock()
		wait := t.busy[name]
		if wait == nil {
			if t.busy == nil {
				t.busy = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			t.busy[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, name)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// silentSlot is how long a server may be silent while it starts and keep its slot
// (architecture.md 8).
const silentSlot = 10 * time.Second
