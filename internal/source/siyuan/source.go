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

// name is that of the source; it is reserved as a server's name.
const name = "siyuan"

// Options of a [Source]. Kernel is required.
type Options struct {
	Kernel *kernel.Client
	// Connection is what the connection in use is called, for people.
	Connection string
	Version    string // of this program
	// DefaultLevel is the level of a notebook that no file lists, and NewLevel of one that is
	// created; the zero values mean Read.
	DefaultLevel, NewLevel access.Level
	// Ceiling is what the callers of a profile are allowed at most, asked at each call; nil allows all of them what
	// the workspace does.
	Ceiling func(profile string) access.Ceiling
	// Verify is called before the first request that is not in vain, and before those that come
	// 10 s after it said yes, and refuses a kernel that is not the one that was meant; nil
	// accepts every kernel.
	Verify func(ctx context.Context, k *kernel.Client) error
	// SwitchTTL is how long the tool config is good; 0 means 30 s, negative reads each time.
	SwitchTTL time.Duration
	// Files says which files of this machine a call may touch; nil allows none.
	Files func(c *tool.Call) action.LocalFiles
	// Coins is the mascot's purse; nil has none.
	Coins action.Coins
	// Safety are the rules of safe writing; nil has no ledger and no undo.
	Safety *safety.Coordinator
	// MaxResult bounds a result, in bytes; 0 means 100 KB.
	MaxResult int
	Logger    *slog.Logger // nil discards
}

// Source offers the SiYuan tools. It is safe for concurrent use. Close ends it; the kernel's
// client is closed by whoever made it.
type Source struct {
	opts     Options
	log      *slog.Logger
	tools    []action.Tool
	index    map[string]map[string]*action.Action
	levels   *access.Levels
	switches *access.Switches
	uploads  action.Uploads

	offer atomic.Pointer[tool.Offer]

	mu       sync.Mutex
	watchers map[int]func(tool.Change)
	next     int
	verified time.Time // when the kernel was found to be the one that was meant
	started  bool
	looking  bool // somebody reads the tool config when it is due

	telling sync.Mutex // held while watchers are told
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

var (
	_ tool.Source    = (*Source)(nil)
	_ tool.Binder    = (*Source)(nil)
	_ tool.Refresher = (*Source)(nil)
)

// New returns a source. It asks the kernel for nothing until it is used, but for the tool
// config, which is read in the background so that lists are right.
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
		Known: known(s.tools), TTL: opts.SwitchTTL, Changed: s.switched,
		Writes: func(t, a string) bool {
			found := s.index[t][a]
			return found == nil || found.Class != action.Reads
		},
	})
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.publish(s.switches.Last())
	return s
}

// Start reads the tool config in the background.
func (s *Source) Start() {
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	s.running.Go(func() { s.switches.Current(s.ctx) })
}

// Close ends what runs in the background. Closing twice is harmless.
func (s *Source) Close() {
	s.mu.Lock()
	s.stop() // nothing begins from now on
	s.mu.Unlock()
	s.running.Wait()
}

// Levels are the levels of the workspace, and Switches its tool config, for those who manage
// them.
func (s *Source) Levels() *access.Levels { return s.levels }

// Switches are the tool switches of the workspace.
func (s *Source) Switches() *access.Switches { return s.switches }

// Kernel is the client in use.
func (s *Source) Kernel() *kernel.Client { return s.opts.Kernel }

// Name is constant.
func (s *Source) Name() string { return name }

// Offer returns the tools with what is switched off, as the tool config said when it was last
// read.
func (s *Source) Offer() *tool.Offer { return s.offer.Load() }

// Watch calls f when the switches have changed.
func (s *Source) Watch(f func(tool.Change)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.watchers[id] = f
	return func() {
		s.telling.Lock() // so that f is not called any more
		defer s.telling.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// switched publishes a new tool config and tells of it.
func (s *Source) switched(cfg *access.Config) {
	s.publish(cfg)
	s.telling.Lock()
	defer s.telling.Unlock()
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

// known is what the switches have to know of the tools.
func known(tools []action.Tool) access.Known {
	out := access.Known{}
	for _, t := range tools {
		out[t.Name] = map[string]bool{}
		for _, a := range t.Actions {
			out[t.Name][a.Name] = !t.Off && !a.Off
		}
	}
	return out
}
