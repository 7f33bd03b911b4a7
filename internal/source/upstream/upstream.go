// Package upstream makes MCP servers into sources: it starts them, speaks the protocol of
// either era with them, keeps their lists and carries what they say both ways.
//
//	Set ─ Server (a tool.Source) ─ pool ─ conn ─ session.Session ─ process or HTTP
//	       ├ supervise.Supervisor    when it runs
//	       └ listing.Listing         what it offers
//
// A [Set] holds the servers of one configuration, started in parallel; no server waits
// for another, and none takes another one down. A [Server] joins what its parts decide. Its pool has
// at most one connection of each era, or of each session, and each connection the calls in flight on it. What passes through is never decoded and encoded again; the few fields that
// have to change are listed in docs/architecture.md under Wire rules.
//
// What it leaves to others: what names clients see is the catalog's, whether a call may
// run is the pipeline's, and what a configuration entry means is package entry's.
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

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Options are what all servers of a Set share. The zero value works, without reaper.
type Options struct {
	// Info is the MCP Implementation object that names us to servers.
	Info json.RawMessage
	// Reaper and Ledger make sure that children end with us; either may be nil.
	Reaper *process.Reaper
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
	Deny []string

	// Cache keeps what servers offer from one run to the next, under identities made with Key;
	// nil keeps nothing. Close does not close it.
	Cache *toolcache.Cache
	Key   []byte
	// Portable leaves folders out of identities, so that machines that keep things elsewhere
	// share lists.
	Portable bool
	// Home is the user's home folder, which is not shown in what is kept.
	Home string
	// Pins remembers the definitions of tools; nil remembers none. Close does not close it.
	Pins *pins.Store
	// Tokens keeps what OAuth gives; nil signs in nowhere. LockDir is a folder for lock files
	// that all processes of this home share.
	Tokens  signin.Store
	LockDir string
	// Logs says where servers' logs go; the zero value keeps them in memory.
	Logs LogFiles
	// Policy says which servers run without being called.
	Policy Policy
	// Drain is how long calls in flight may go on when a server is stopped; 0 means that they
	// are cancelled at once.
	Drain time.Duration
	// Ladder is how long a server may take to end once it is told to; zero means the usual waits.
	Ladder process.Ladder
	// Peek changes nothing in the cache: the Set is for looking only.
	Peek bool

	Logger *slog.Logger // nil discards

	// open stands in for starting or reaching a server, in tests of what time does to it.
	open func(ctx context.Context, c *conn, opts mcp.ClientOptions) error
}

// LogFiles are the rotated files of what servers say, <Dir>/<server>.log.
type LogFiles struct {
	Dir     string // empty writes none
	MaxSize int64  // bytes of one file; default 5 MiB
	Files   int    // of each server; default 3
}

// logFor is the log of a server.
func (s *Set) logFor(name string, log *slog.Logger) *serverlog.Log {
	o := serverlog.Options{MaxSize: s.opts.Logs.MaxSize, Files: s.opts.Logs.Files, Logger: log}
	if dir := s.opts.Logs.Dir; dir != "" && len(entry.CheckNames([]string{name}, nil)) == 0 {
		o.Path = filepath.Join(dir, name+".log")
	}
	return serverlog.New(o)
}

// Policy says which servers are contacted without being called.
type Policy struct {
	// Warmup says which servers start with the gateway to learn their lists: missing (the
	// default), off, stale or all.
	Warmup string
	// RefreshStale is use (the default) or start: when a stale list of a stdio server is
	// confirmed. Those of remote servers are at the start.
	RefreshStale string
	// ServeOldOnChange keeps the old list of a server whose configuration has changed on show
	// until the new one is there.
	ServeOldOnChange bool
	// RefreshEvery fetches lists again, spread by a fifth, of running and of remote servers; of
	// all with RefreshStarts. 0 is never.
	RefreshEvery  time.Duration
	RefreshStarts bool
}

// Spec is one server of the configuration, and what is wrong with its entry.
type Spec struct {
	Entry    entry.Entry
	Problems []entry.Problem
	// Off is a stable code of why the server must not run, such as "untrusted"; empty lets it.
	Off string
}

// reason is the stable code of what is wrong with the entry.
func (s *Spec) reason() string {
	for _, p := range s.Problems {
		if p.Severity == entry.SeverityError && p.Rule == entry.RuleUnset {
			return "var_unset"
		}
	}
	return "config_invalid"
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
	started chan struct{}

	mu      sync.Mutex
	servers []*Server
	level   string // the log level that is wanted of servers
	begun   bool
	closed  bool
	leaving sync.WaitGroup // servers that were taken out and are stopping

	whole  atomic.Bool  // it is started for a gateway, not for one command
	caller atomic.Int32 // the mcp.Era of the last call to any server; 0 where nobody has called

	gateway    session.Gateway
	folders    folders
	stopWatch  func()
	life       context.Context
	cancel     context.CancelFunc
	refreshing sync.WaitGroup
}

// NewSet returns the servers that specs describe, in their order. What the cache knows of them
// is on offer at once. Nothing is started before Start, or before a server is called.
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
		s.configured(s.servers)
	}
	return s
}

// called notes the era of a caller, and lastCaller returns that of the last one.
func (s *Set) called(era mcp.Era) {
	if s.lastCaller() != era {
		s.caller.Store(int32(era))
	}
}

func (s *Set) lastCaller() mcp.Era { return mcp.Era(s.caller.Load()) }

// cache is the cache, which may be nil and keeps nothing then.
func (s *Set) cache() *toolcache.Cache { return s.opts.Cache }

// configured tells the cache who is configured, and pins who was renamed.
func (s *Set) configured(servers []*Server) {
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

// Start starts the servers that have to run, in parallel and in the background: among all if
// names is nil, else among those named. It is called once. A server whose tools the cache
// knows is not started, unless its lifecycle or the policy wants it.
func (s *Set) Start(names []string) {
	s.mu.Lock()
	servers := slices.Clone(s.servers)
	s.begun = true
	s.mu.Unlock()
	s.whole.Store(names == nil)
	recalled := recallAll(servers)
	var wg sync.WaitGroup
	for i, srv := range servers {
		chosen := names == nil || slices.Contains(names, srv.name)
		starts, endLease := srv.startsFirst(recalled[i], chosen, names == nil)
		if !starts || srv.listing.Lists() != nil {
			srv.first.isOver()
		}
		if starts {
			wg.Go(func() { srv.startFirst(endLease) })
		}
	}
	s.stopWatch = s.cache().Watch(s.adopt)
	s.refreshing.Go(func() { s.watchPins(servers) })
	if names == nil && s.opts.Policy.RefreshEvery > 0 {
		s.refreshing.Go(s.refreshOften)
	}
	go func() { // ends when the last start has, which has a limit
		wg.Wait()
		close(s.started)
	}()
}

// adopt takes over what another gateway has found out about a server.
func (s *Set) adopt(name string) {
	srv := s.Server(name)
	if srv == nil || srv.usable() != nil || srv.isLive() {
		return
	}
	if v, why := srv.listing.Recall(true); v == toolcache.Miss && why == "no_entry" {
		srv.forget()
	}
}

// pinsLater is how long after a start the pins are asked about lists that the cache gave: who
// wants his tools at once is not kept waiting for it.
const pinsLater = time.Second

// watchPins looks up what waits for approval, which hides nothing (see recall), and takes over
// what is approved in other processes. It ends with the set.
func (s *Set) watchPins(servers []*Server) {
	if !pauseFor(s.life, nil, pinsLater) {
		return
	}
	for _, srv := range servers {
		srv.listing.CheckLate()
	}
	stop := s.opts.Pins.Watch(s.approved)
	<-s.life.Done()
	stop()
}

// Cleared takes back what the cache had told of servers, after it was cleared by this process.
func (s *Set) Cleared(names []string) {
	for _, name := range names {
		s.adopt(name)
	}
}

// approved takes over what was approved in another process.
func (s *Set) approved(name string) {
	if srv := s.Server(name); srv != nil {
		s.adopt(name) // a list that was refused for its definitions may be known now
		srv.listing.Recheck()
	}
}

// Started is closed when every server that Start started is ready or has failed.
func (s *Set) Started() <-chan struct{} { return s.started }

// Servers returns the servers in their order.
func (s *Set) Servers() []*Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// Sources returns the servers as sources, in their order.
func (s *Set) Sources() []tool.Source {
	servers := s.Servers()
	out := make([]tool.Source, len(servers))
	for i, srv := range servers {
		out[i] = srv
	}
	return out
}

// Server returns the server of a name, nil if there is none.
func (s *Set) Server(name string) *Server {
	for _, srv := range s.Servers() {
		if srv.name == name {
			return srv
		}
	}
	return nil
}

// Close stops all servers in parallel: calls in flight may go on for as long as Drain, stdin is
// closed, then they are terminated, then killed. When ctx ends, the rest is killed at once. It
// may be called twice.
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
	s.leaving.Wait()
	s.refreshing.Wait()
}
