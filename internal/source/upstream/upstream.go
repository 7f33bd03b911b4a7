// Package upstream makes MCP servers into sources. It starts them, speaks the protocol of either era with them, keeps
// their lists and carries messages both ways.
//
//	Set ─ Server (a tool.Source) ─ pool ─ conn ─ session.Session ─ process or HTTP
//	       ├ supervise.Supervisor    when it runs
//	       └ listing.Listing         what it offers
//
// A [Set] holds the servers of one configuration. They start in parallel, and a failing one does not affect the
// others. A [Server] joins the decisions of its parts. Its pool has at most one connection for each era, or for each
// session, and each connection has its calls in flight. Messages pass through without being decoded and encoded
// again; docs/architecture.md lists the few fields that change, under "Rules of the wire and of the record".
//
// The names that clients see are the catalog's duty, whether a call may run is the pipeline's, and package entry
// interprets the configuration.
package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/event"
	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/supervise"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Options are shared by all servers of a Set. The zero value works.
type Options struct {
	// Info is the MCP Implementation object that tells servers who we are.
	Info json.RawMessage
	// Reaper and Ledger make sure that child processes end with us; either may be nil.
	Reaper *process.Reaper
	Ledger *process.Ledger
	// MaxFrame bounds one message from a server, in bytes; default 64 MiB.
	MaxFrame int
	// Starts bounds how many servers start at once, and RunnerStarts how many of those by package runners such as
	// npx; defaults 64 and 4.
	Starts, RunnerStarts int64
	// Environ is our own environment. Children inherit the part of it that their entries allow.
	Environ []string
	// RunDir is a folder for the ids of containers that servers run in; empty leaves containers alone.
	RunDir string
	// Deny are patterns for variables that children do not inherit; nil means the defaults.
	Deny []string

	// Cache stores what servers offer across restarts, under identities made with Key; nil stores nothing. Close does
	// not close it.
	Cache *toolcache.Cache
	Key   []byte
	// Portable leaves folders out of identities, so that machines with different folders share lists.
	Portable bool
	// Home is the user's home folder, which is masked in what is stored.
	Home string
	// Pins stores the approved definitions of tools; nil stores none. Close does not close it.
	Pins *pins.Store
	// Tokens stores OAuth tokens; nil means no server can be signed in to. LockDir is a folder for lock files that
	// all processes of this home share.
	Tokens  signin.Store
	LockDir string
	// Logs says where servers' logs go; the zero value keeps them in memory.
	Logs LogFiles
	// Policy says which servers are contacted without being called.
	Policy Policy
	// Drain is how long calls in flight may go on when a server is stopped; 0 cancels them at once.
	Drain time.Duration
	// Ladder is how long a server may take for each step of being stopped; zero means the defaults.
	Ladder process.Ladder
	// Peek leaves the cache unchanged: the Set is for looking only.
	Peek bool

	Logger *slog.Logger // nil discards

	// States is where each state that a server enters is published; nil publishes none.
	States *event.Bus[StateChange]

	// open replaces the real start of a server in tests that control time.
	open func(ctx context.Context, c *conn, opts mcp.ClientOptions) error
}

// StateChange says which state a server has entered.
type StateChange struct {
	Server string
	supervise.Condition
}

// LogFiles describes the rotated log files of servers, <Dir>/<server>.log.
type LogFiles struct {
	Dir     string // empty: no files
	MaxSize int64  // bytes of one file; default 5 MiB
	Files   int    // for each server; default 3
}

// logFor returns the log of a server.
func (s *Set) logFor(name string, log *slog.Logger) *serverlog.Log {
	o := serverlog.Options{MaxSize: s.opts.Logs.MaxSize, Files: s.opts.Logs.Files, Logger: log}
	if dir := s.opts.Logs.Dir; dir != "" && len(entry.CheckNames([]string{name}, nil)) == 0 {
		o.Path = filepath.Join(dir, name+".log")
	}
	return serverlog.New(o)
}

// Policy says which servers are contacted without being called.
type Policy struct {
	// Warmup says which servers start with the gateway to learn their lists: missing (those with unknown lists, the
	// default), off, stale or all.
	Warmup string
	// RefreshStale says when a stale list of a stdio server is refreshed: at its next use (the default) or at the
	// start. Stale lists of remote servers are refreshed at the start.
	RefreshStale string
	// ServeOldOnChange keeps the old list of a server with changed settings published until the new one arrives.
	ServeOldOnChange bool
	// RefreshEvery is how often lists are fetched again, give or take a fifth, from running and from remote servers;
	// with RefreshStarts from all. 0 means never.
	RefreshEvery  time.Duration
	RefreshStarts bool
}

// Spec is one server of the configuration with the problems of its entry.
type Spec struct {
	Entry    entry.Entry
	Problems []entry.Problem
	// Off is a stable code for why the server must not run, such as "untrusted"; empty if it may.
	Off string
}

// reason returns the stable code of the entry's first error.
func (s *Spec) reason() string {
	for _, p := range s.Problems {
		if p.Severity == entry.SeverityError && p.Rule == entry.RuleUnset {
			return "var_unset"
		}
	}
	return "config_invalid"
}

// invalidReason returns why the entry is invalid; empty if it is valid.
func (s *Spec) invalidReason() string {
	for _, p := range s.Problems {
		if p.Severity == entry.SeverityError {
			return p.Message
		}
	}
	return ""
}

// Set is the servers of one configuration. It is safe for concurrent use. Close stops them.
type Set struct {
	opts    Options
	log     *slog.Logger
	started chan struct{}

	mu       sync.Mutex
	servers  []*Server
	level    string // the MCP log level that clients want
	hasBegun bool
	closed   bool
	stopping sync.WaitGroup // removed servers that are still stopping

	forGateway atomic.Bool  // started for a gateway, not for one command
	caller     atomic.Int32 // the mcp.Era of the last call to any server; 0 if there was none

	gateway    session.Gateway
	folders    folders
	stopWatch  func()
	life       context.Context
	cancel     context.CancelFunc
	refreshing sync.WaitGroup
}

// NewSet returns the servers described by specs, in order. What the cache knows of them is published at once. No
// server is started before Start or its first call.
func NewSet(specs []Spec, opts Options) *Set {
	if opts.Info == nil {
		opts.Info = json.RawMessage(`{"name":"collie","version":"0"}`)
	}
	s := &Set{
		opts: opts, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), started: make(chan struct{}), stopWatch: func() {},
		gateway: session.Gateway{
			Starts: session.NewStarts(opts.Starts, opts.RunnerStarts), Reaper: opts.Reaper, Ledger: opts.Ledger, Ladder: opts.Ladder,
			MaxFrame: opts.MaxFrame, RunDir: opts.RunDir, Environ: opts.Environ, Deny: opts.Deny,
		},
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	for _, spec := range specs {
		s.servers = append(s.servers, newServer(s, spec))
	}
	if !opts.Peek {
		s.publishConfigured(s.servers)
	}
	return s
}

// recordEra records the era of a caller; lastCaller returns the latest.
func (s *Set) recordEra(era mcp.Era) {
	if s.lastCaller() != era {
		s.caller.Store(int32(era))
	}
}

func (s *Set) lastCaller() mcp.Era { return mcp.Era(s.caller.Load()) }

// cache returns the cache; nil stores nothing.
func (s *Set) cache() *toolcache.Cache { return s.opts.Cache }

// publishConfigured tells the cache which servers are configured, and pins which were renamed.
func (s *Set) publishConfigured(servers []*Server) {
	var all []toolcache.Want
	for _, srv := range servers {
		if srv.hash != "" {
			all = append(all, toolcache.Want{Name: srv.name, Hash: srv.hash})
		}
	}
	for now, before := range s.cache().Configured(all) {
		s.log.Info("server renamed, what was known of it moves along", "from", before, "to", now)
		if s.opts.Pins != nil {
			s.opts.Pins.Rename(before, now)
		}
	}
}

// Start starts the servers that have to run, in parallel and in the background, among those named, or all if names is
// nil. A server whose tools the cache knows is not started, unless its lifecycle or the policy asks for it. Start is
// called once.
func (s *Set) Start(names []string) {
	s.mu.Lock()
	servers := slices.Clone(s.servers)
	s.hasBegun = true
	s.mu.Unlock()
	s.forGateway.Store(names == nil)
	recalled := recallAll(servers)
	var wg sync.WaitGroup
	for i, srv := range servers {
		chosen := names == nil || slices.Contains(names, srv.name)
		starts, endLease := srv.shouldStartNow(recalled[i], chosen, names == nil)
		if !starts || srv.listing.Lists() != nil {
			srv.first.endAllWaits()
		}
		if starts {
			wg.Go(func() { srv.startFirst(endLease) })
		}
	}
	s.stopWatch = s.cache().Watch(s.adoptLearned)
	s.refreshing.Go(func() { s.watchPins(servers) })
	if names == nil && s.opts.Policy.RefreshEvery > 0 {
		s.refreshing.Go(s.refreshOften)
	}
	go func() { // ends when the last start has, which has a limit
		wg.Wait()
		close(s.started)
	}()
}

// adoptLearned publishes a server's cache entry after another gateway has changed it. If the entry
// is gone, it withdraws the cached lists. A server that runs keeps its own lists.
func (s *Set) adoptLearned(name string) {
	srv := s.Server(name)
	if srv == nil || srv.checkUsable() != nil || srv.isLive() {
		return
	}
	if v, why := srv.listing.Recall(true); v == toolcache.Miss && why == "no_entry" {
		srv.forgetCached()
	}
}

// pinsLater is how long after a start the definitions of cached lists are compared with the pins, so as not to delay
// clients that want the tools at once.
const pinsLater = time.Second

// watchPins finds changed definitions that wait for approval, and takes over approvals given in other processes.
// [listing.Listing.Recall] says which cached lists were compared before. It ends with the set.
func (s *Set) watchPins(servers []*Server) {
	if !sleepFor(s.life, nil, pinsLater) {
		return
	}
	for _, srv := range servers {
		srv.listing.CheckLate()
	}
	stop := s.opts.Pins.Watch(s.takeApprovals)
	<-s.life.Done()
	stop()
}

// Cleared withdraws what came from the cache, after this process has cleared the cache for the named servers.
func (s *Set) Cleared(names []string) {
	for _, name := range names {
		s.adoptLearned(name)
	}
}

// takeApprovals takes over approvals that another process has given.
func (s *Set) takeApprovals(name string) {
	if srv := s.Server(name); srv != nil {
		s.adoptLearned(name) // a list that was refused because of its definitions may be accepted now
		srv.listing.Recheck()
	}
}

// Started returns a channel that is closed when every server that Start started is ready or has failed.
func (s *Set) Started() <-chan struct{} { return s.started }

// Servers returns the servers in order.
func (s *Set) Servers() []*Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// Sources returns the servers as sources, in order.
func (s *Set) Sources() []tool.Source {
	servers := s.Servers()
	out := make([]tool.Source, len(servers))
	for i, srv := range servers {
		out[i] = srv
	}
	return out
}

// Server returns the server with that name, nil if there is none.
func (s *Set) Server(name string) *Server {
	for _, srv := range s.Servers() {
		if srv.name == name {
			return srv
		}
	}
	return nil
}

// Close stops all servers in parallel: calls in flight may go on for Drain, then stdin is closed, then processes are
// terminated, then killed. When ctx ends, those that are left are killed at once. Close may be called twice.
func (s *Set) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	servers := slices.Clone(s.servers)
	s.mu.Unlock()
	s.stopWatch()
	s.cancel()
	var wg sync.WaitGroup
	for _, srv := range servers {
		wg.Go(func() { srv.close(ctx, s.opts.Drain) })
	}
	wg.Wait()
	s.stopping.Wait()
	s.refreshing.Wait()
}
