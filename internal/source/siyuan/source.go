package siyuan

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// This file has the source itself: its parts, its start and its end.

// name is the name of the source, which is reserved for it.
const name = "siyuan"

// Options of a [Source]. Kernel is required.
type Options struct {
	Kernel *kernel.Client
	// Connection is the name of the connection in use, for people.
	Connection string
	Version    string // of this program
	// DefaultLevel is the level of a notebook that no file lists, NewLevel that of a new notebook; zero means Read.
	DefaultLevel, NewLevel access.Level
	// Ceiling returns the ceiling for the callers of a profile. It is called for each call; nil means no ceiling.
	Ceiling func(profile string) access.Ceiling
	// Verifier refuses a kernel that is not the intended one. It is asked before each request; nil accepts every kernel.
	Verifier *kernel.Verifier
	// SwitchTTL is how long the tool config is valid; 0 means 30 s, negative reads it each time.
	SwitchTTL time.Duration
	// Files says which files on this machine a call may use; nil allows none.
	Files func(c *tool.Call) action.LocalFiles
	// Coins holds the mascot's balance; nil means none.
	Coins action.Coins
	// Safety applies the rules of safe writing; with nil there is no ledger and no undo.
	Safety *safety.Coordinator
	// MaxResult bounds a result in bytes; 0 means 100 KB.
	MaxResult int
	Logger    *slog.Logger // nil discards
}

// Source offers the SiYuan tools. It is safe for concurrent use. Close ends it; whoever made the kernel's client
// closes that.
type Source struct {
	opts     Options
	log      *slog.Logger
	tools    []action.Tool
	index    map[string]map[string]*action.Action
	levels   *access.Levels
	switches *access.Switches
	uploads  action.Uploads

	offer atomic.Pointer[tool.Offer]

	mu          sync.Mutex
	watchers    map[int]func(tool.Change)
	nextWatcher int
	started     bool
	watching    bool // a goroutine reads the tool config when its time is up

	notifyMu sync.Mutex // held while watchers are called
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
}

var (
	_ tool.Source    = (*Source)(nil)
	_ tool.Binder    = (*Source)(nil)
	_ tool.Refresher = (*Source)(nil)
)

// New returns a source. It makes no request until it is used.
func New(opts Options) *Source {
	if opts.MaxResult <= 0 {
		opts.MaxResult = 100 << 10
	}
	if opts.DefaultLevel == access.None {
		opts.DefaultLevel = access.Read
	}
	if opts.NewLevel == access.None {
		opts.NewLevel = access.Read
	}
	s := &Source{opts: opts, log: opts.Logger, tools: Tools(), watchers: map[int]func(tool.Change){}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.index = indexOf(s.tools)
	s.levels = access.NewLevels(opts.Kernel, access.LevelsOptions{Default: opts.DefaultLevel})
	s.switches = access.NewSwitches(opts.Kernel, access.SwitchesOptions{
		Known: knownTools(s.tools), TTL: opts.SwitchTTL, Changed: s.setConfig,
		Writes: func(t, a string) bool {
			found := s.index[t][a]
			return found == nil || found.Class != action.Reads
		},
	})
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.publish(s.switches.Last())
	return s
}

// Start reads the tool config in the background, so that lists are right.
func (s *Source) Start() {
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	s.running.Go(func() { s.readConfig() })
}

// Close stops background work. It may be called twice.
func (s *Source) Close() {
	s.mu.Lock()
	s.stop() // nothing new begins
	s.mu.Unlock()
	s.running.Wait()
}

// Levels returns the levels of the workspace, for their management.
func (s *Source) Levels() *access.Levels { return s.levels }

// Switches returns the tool config of the workspace, for its management.
func (s *Source) Switches() *access.Switches { return s.switches }

// Kernel returns the client in use.
func (s *Source) Kernel() *kernel.Client { return s.opts.Kernel }

// Name returns "siyuan".
func (s *Source) Name() string { return name }

// Offer returns the tools, including what is switched off, by the tool config as it was last read.
func (s *Source) Offer() *tool.Offer { return s.offer.Load() }

// Watch calls f when the switches have changed.
func (s *Source) Watch(f func(tool.Change)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextWatcher
	s.nextWatcher++
	s.watchers[id] = f
	return func() {
		s.notifyMu.Lock() // so that f is not running after stop returns
		defer s.notifyMu.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// setConfig publishes a new tool config and tells watchers.
func (s *Source) setConfig(cfg *access.Config) {
	s.publish(cfg)
	s.notifyMu.Lock()
	defer s.notifyMu.Unlock()
	s.mu.Lock()
	var tell []func(tool.Change)
	for _, id := range slices.Sorted(maps.Keys(s.watchers)) {
		tell = append(tell, s.watchers[id])
	}
	s.mu.Unlock()
	for _, f := range tell {
		f(tool.Change{Kind: tool.ToolsChanged, Source: name})
	}
}

func indexOf(tools []action.Tool) map[string]map[string]*action.Action {
	out := map[string]map[string]*action.Action{}
	for _, t := range tools {
		out[t.Name] = map[string]*action.Action{}
		for _, a := range t.Actions {
			out[t.Name][a.Name] = a
		}
	}
	return out
}

// knownTools returns what package access needs to know of the tools.
func knownTools(tools []action.Tool) access.Known {
	out := access.Known{}
	for _, t := range tools {
		out[t.Name] = map[string]bool{}
		for _, a := range t.Actions {
			out[t.Name][a.Name] = !t.Off && !a.Off
		}
	}
	return out
}
