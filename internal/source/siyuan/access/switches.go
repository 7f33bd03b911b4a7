package access

import (
	"context"
	"maps"
	"sync"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// configFile is the name of a tool config in its folder.
const configFile = "mcpToolsConfig"

// SwitchesOptions are the optional parts of [Switches].
type SwitchesOptions struct {
	Known Known
	// Writes says whether an action writes, for a config that cannot be read. Nil means
	// that every one does.
	Writes func(tool, action string) bool
	// TTL is how long a config is good; default 30 s, negative reads each time. KeepGood is how
	// long the last good one is kept; default 10 minutes.
	TTL, KeepGood time.Duration
	// Changed is called when what is on differs from before, before Current returns it to
	// anybody. It must not block, and must not call Current.
	Changed func(*Config)
}

// Switches reads and writes the tool config of one workspace: our own file, which wins when it
// is there, else the public plugin's. It is safe for concurrent use.
type Switches struct {
	kernel *kernel.Client
	opts   SwitchesOptions

	latest  *latest[*Config]
	editing chan struct{} // holds a token while nobody edits

	mu     sync.Mutex
	last   *Config   // what was returned last
	good   *Config   // the last that was read; nil before that
	goodAt time.Time // when its reading began
	failed time.Time // since when readings fail; zero if the last one did not
}

// NewSwitches returns the switches of the workspace behind k. Nothing is read before it is
// needed.
func NewSwitches(k *kernel.Client, opts SwitchesOptions) *Switches {
	if opts.TTL == 0 {
		opts.TTL = 30 * time.Second
	}
	if opts.KeepGood <= 0 {
		opts.KeepGood = 10 * time.Minute
	}
	if opts.Writes == nil {
		opts.Writes = func(string, string) bool { return true }
	}
	s := &Switches{
		kernel: k, opts: opts, latest: newLatest[*Config](),
		editing: make(chan struct{}, 1), last: opts.Known.defaults(),
	}
	s.editing <- struct{}{}
	return s
}

// Current returns the config, read anew if it is older than TTL, by one reader at a time. It
// never fails: see Config.Stale and Config.Unreadable. A reading that failed is tried again by
// the next call.
func (s *Switches) Current(ctx context.Context) *Config {
	c, err := s.latest.get(ctx, s.opts.TTL, false, func(ctx context.Context) (*Config, error) {
		began := time.Now()
		f, err := s.load(ctx)
		if err != nil && ctx.Err() != nil {
			return nil, err // says nothing about the files
		}
		c, changed := s.settle(f.config(s.opts.Known), began, err)
		if changed != nil && s.opts.Changed != nil {
			s.opts.Changed(changed) // before anybody who waits for this reading goes on
		}
		return c, err
	})
	if c == nil {
		c = s.failing(err)
	}
	return c
}

// Left is how long the config that Current returned last is good, 0 where the next Current reads.
func (s *Switches) Left() time.Duration { return s.latest.left(s.opts.TTL) }

// Last returns what Current returned last, the defaults before that. It asks nobody.
func (s *Switches) Last() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Forget drops what is remembered, so that the next config is read anew. The last good one is
// kept for when that fails.
func (s *Switches) Forget() { s.latest.forget() }

// settle takes the outcome of a reading: c, or why there is none. It returns what holds now, and
// the same again if that offers something else than before.
func (s *Switches) settle(c *Config, began time.Time, err error) (now, changed *Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.failed.IsZero() {
			s.failed = began
		}
		c = s.withoutFile(err)
	} else {
		s.good, s.goodAt, s.failed = c, began, time.Time{}
	}
	if !c.sameSwitches(s.last) {
		changed = c
	}
	s.last = c
	return c, changed
}

// failing is what holds for somebody who gave up waiting.
func (s *Switches) failing(err error) *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withoutFile(err)
}

// withoutFile is what holds while the files cannot be read: the last good config, and once that
// is too old the defaults with all writes off, and with everything off that the last good one
// had off, so that a failure never opens anything.
func (s *Switches) withoutFile(err error) *Config {
	since := s.failed
	if since.IsZero() {
		since = time.Now()
	}
	if s.good != nil && time.Since(s.goodAt) <= s.opts.KeepGood {
		c := *s.good
		c.Stale, c.Problem = since, err
		return &c
	}
	c := s.opts.Known.defaults()
	c.Stale, c.Unreadable, c.Problem = since, true, err
	for name, actions := range c.On {
		actions = maps.Clone(actions)
		for action := range actions {
			if s.opts.Writes(name, action) || s.good != nil && !s.good.Enabled(name, action) {
				actions[action] = false
			}
		}
		c.On[name] = actions
	}
	if s.good != nil {
		c.ReadOnly = s.good.ReadOnly
	}
	c.closeEmpty()
	return c
}

// loaded is a tool config as it was read; the zero value stands for no file.
type loaded struct {
	path string
	text []byte
	raw  map[string]any
}

func (f loaded) config(known Known) *Config {
	if f.raw == nil {
		return known.defaults()
	}
	c := known.parse(f.raw)
	c.Source = f.path
	return c
}

// load reads our file, and where that is missing or no object the plugin's.
func (s *Switches) load(ctx context.Context) (loaded, error) {
	for _, folder := range []string{ownFolder, pluginFolder} {
		path := folder + configFile
		text, err := readFile(ctx, s.kernel, path)
		if err != nil {
			return loaded{}, err
		}
		if text == nil {
			continue
		}
		raw, err := decodeConfig(text)
		if err != nil {
			return loaded{}, &tool.Error{
				Op: "read tool config", Kind: kernel.API, Code: "config_corrupt", Subject: path, Err: err,
				Hint: "repair or remove that file in the SiYuan workspace",
			}
		}
		if raw != nil {
			return loaded{path, text, raw}, nil
		}
	}
	return loaded{}, nil
}
