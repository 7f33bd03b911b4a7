package access

import (
	"context"
	"maps"
	"sync"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file reads the tool config of a workspace: which tools and actions are switched on.

// configFile is the name of a tool config in its folder.
const configFile = "mcpToolsConfig"

// SwitchesOptions are the optional parts of [Switches].
type SwitchesOptions struct {
	Known Known
	// Writes reports whether an action writes; it is used for a config that cannot be read. Nil means that every
	// action does.
	Writes func(tool, action string) bool
	// TTL is how long a config is valid; default 30 s, negative reads it each time. KeepGood is how long the last
	// good one is kept; default 10 minutes.
	TTL, KeepGood time.Duration
	// Changed is called when what is on has changed, before Current returns the new config. It must not block or
	// call Current.
	Changed func(*Config)
}

// Switches reads and writes the tool config of one workspace: our own file if it exists, else the public plugin's. It
// is safe for concurrent use.
type Switches struct {
	kernel *kernel.Client
	opts   SwitchesOptions

	reading   *sharedReading[*Config]
	editToken chan struct{} // holds a token while nobody edits

	mu           sync.Mutex
	last         *Config   // returned last
	lastGood     *Config   // last that was read; nil before that
	lastGoodAt   time.Time // when its reading began
	failingSince time.Time // since when readings fail; zero if the last one succeeded
}

// NewSwitches returns the switches of the workspace behind k. It reads nothing yet.
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
		kernel: k, opts: opts, reading: newSharedReading[*Config](),
		editToken: make(chan struct{}, 1), last: opts.Known.defaults(),
	}
	s.editToken <- struct{}{}
	return s
}

// Current returns the config, read again if it is older than TTL; one caller reads at a time. It never fails: see
// Config.Stale and Config.Unreadable. After a failed reading the next call tries again.
func (s *Switches) Current(ctx context.Context) *Config {
	c, err := s.reading.get(ctx, s.opts.TTL, false, func(ctx context.Context) (*Config, error) {
		began := time.Now()
		f, err := s.load(ctx)
		if err != nil && ctx.Err() != nil {
			return nil, err // not an error of the files
		}
		c, changed := s.storeReading(f.config(s.opts.Known), began, err)
		if changed != nil && s.opts.Changed != nil {
			s.opts.Changed(changed) // before callers that wait for this reading continue
		}
		return c, err
	})
	if c == nil {
		c = s.whileFailing(err)
	}
	return c
}

// Left returns how long the config that Current returned last stays valid; 0 if the next Current reads.
func (s *Switches) Left() time.Duration { return s.reading.validFor(s.opts.TTL) }

// Last returns what Current returned last, or the defaults. It makes no request.
func (s *Switches) Last() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Forget drops what is remembered, so that the next config is read anew. The last good one is kept in case that
// fails.
func (s *Switches) Forget() { s.reading.invalidate() }

// storeReading stores the result of a reading: c, or err. It returns the config in effect, and returns it as changed
// too if it offers something else than before.
func (s *Switches) storeReading(c *Config, began time.Time, err error) (now, changed *Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.failingSince.IsZero() {
			s.failingSince = began
		}
		c = s.withoutFile(err)
	} else {
		s.lastGood, s.lastGoodAt, s.failingSince = c, began, time.Time{}
	}
	if !c.sameSwitches(s.last) {
		changed = c
	}
	s.last = c
	return c, changed
}

// whileFailing returns the config in effect for a caller that gave up waiting.
func (s *Switches) whileFailing(err error) *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withoutFile(err)
}

// withoutFile returns the config in effect while the files cannot be read: the last good one. Once that is too old,
// it is the defaults with all writes off, and with everything off that the last good one had off, so that a failure
// never turns anything on.
func (s *Switches) withoutFile(err error) *Config {
	since := s.failingSince
	if since.IsZero() {
		since = time.Now()
	}
	if s.lastGood != nil && time.Since(s.lastGoodAt) <= s.opts.KeepGood {
		c := *s.lastGood
		c.Stale, c.Problem = since, err
		return &c
	}
	c := s.opts.Known.defaults()
	c.Stale, c.Unreadable, c.Problem = since, true, err
	for name, actions := range c.On {
		actions = maps.Clone(actions)
		for action := range actions {
			if s.opts.Writes(name, action) || s.lastGood != nil && !s.lastGood.Enabled(name, action) {
				actions[action] = false
			}
		}
		c.On[name] = actions
	}
	if s.lastGood != nil {
		c.ReadOnly = s.lastGood.ReadOnly
	}
	c.closeEmpty()
	return c
}

// loadedConfig is a tool config as it was read; the zero value means that there is no file.
type loadedConfig struct {
	path string
	text []byte
	raw  map[string]any
}

func (f loadedConfig) config(known Known) *Config {
	if f.raw == nil {
		return known.defaults()
	}
	c := known.parse(f.raw)
	c.Source = f.path
	return c
}

// load reads our file or, if that is missing or not an object, the plugin's.
func (s *Switches) load(ctx context.Context) (loadedConfig, error) {
	for _, folder := range []string{ownFolder, pluginFolder} {
		path := folder + configFile
		text, err := readFile(ctx, s.kernel, path)
		if err != nil {
			return loadedConfig{}, err
		}
		if text == nil {
			continue
		}
		raw, err := decodeConfig(text)
		if err != nil {
			return loadedConfig{}, &tool.Error{
				Op: "read tool config", Kind: kernel.API, Code: "config_corrupt", Subject: path, Err: err,
				Hint: "repair or remove that file in the SiYuan workspace",
			}
		}
		if raw != nil {
			return loadedConfig{path, text, raw}, nil
		}
	}
	return loadedConfig{}, nil
}
