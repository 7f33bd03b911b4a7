package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"
)

// This file reads the settings again when they change, and tells a caller about changes that matter.

// WatchOptions are the optional parts of [Watch].
type WatchOptions struct {
	// Extra returns further files whose content matters, such as the envFile of server entries. It is called
	// after each reading. Relative paths and missing files are allowed.
	Extra func(*Config) []string
	// Poll is how often to look at the files if the system sends no notices; default 2 s.
	Poll time.Duration
	// Debounce is how long a file must be unchanged before it is read; default 300 ms. A file that keeps
	// changing is read after ten times that.
	Debounce time.Duration
	// Now makes Watch read the files at once, quiet or not. The function received from it is called after f
	// was told what is new. Nil is allowed.
	Now <-chan func()
	// PollOnly uses polling without notices of the system.
	PollOnly bool
	Logger   *slog.Logger // nil discards
}

// Watch calls f when the settings of o differ from cfg, which were read before, and then whenever they change
// again. It calls f on its own goroutine, one call at a time, and returns when ctx ends.
//
// f gets the new settings, or an error if they cannot be read or are invalid. After an error the previous
// settings stay in effect, the same error is not repeated, and f is called when the files are valid again,
// even if nothing else has changed. A change of white space or comments alone is not reported. A file that
// has disappeared or become empty is an error too, because an editor may be about to write it, and no gateway
// should stop all its servers for that. Only a project's file may disappear.
func Watch(ctx context.Context, cfg *Config, o Options, w WatchOptions, f func(*Config, error)) {
	if w.Poll <= 0 {
		w.Poll = 2 * time.Second
	}
	if w.Debounce <= 0 {
		w.Debounce = 300 * time.Millisecond
	}
	if w.Logger == nil {
		w.Logger = slog.New(slog.DiscardHandler)
	}
	r := &reader{opts: o, extra: w.Extra, notify: f, existed: slices.Clone(cfg.Files), seen: maps.Clone(cfg.seen)}
	if r.seen == nil { // settings that were not read from files
		r.seen = fileStates{}
	}
	r.use(cfg)
	r.run(ctx, &w)
}

// reader reads the settings again for Watch, and remembers what it reported last.
type reader struct {
	opts   Options
	extra  func(*Config) []string
	notify func(*Config, error)

	seen      fileStates
	existed   []string // settings files that existed
	extras    []string // further files
	current   string   // fingerprint of the settings reported last
	lastError string   // the error reported after them, if any
}

// use records cfg as the settings reported last.
func (r *reader) use(cfg *Config) {
	r.extras = nil
	if r.extra != nil {
		r.extras = r.extra(cfg)
	}
	for _, file := range cfg.Files {
		if !slices.Contains(r.existed, file) {
			r.existed = append(r.existed, file)
		}
	}
	r.current, r.lastError = r.fingerprint(cfg), ""
}

// fingerprint returns a text that differs if the settings differ in a way that must be reported.
func (r *reader) fingerprint(cfg *Config) string {
	var untrusted []ServerEntry
	for _, s := range cfg.Servers {
		if s.Untrusted {
			untrusted = append(untrusted, s)
		}
	}
	contents := map[string]string{}
	for _, file := range r.extras {
		text, err := readPlain(file)
		if err != nil {
			contents[file] = err.Error()
			continue
		}
		contents[file] = digest(text)
	}
	raw, err := json.Marshal([]any{cfg.Digest(), untrusted, contents})
	if err != nil {
		panic(fmt.Sprintf("config: settings do not encode: %v", err))
	}
	return digest(raw)
}

// read reads everything and reports what has changed.
func (r *reader) read() {
	cfg, err := r.load()
	if err != nil {
		if r.lastError != err.Error() {
			r.lastError = err.Error()
			r.notify(nil, err)
		}
		return
	}
	before, failed := r.current, r.lastError != ""
	r.use(cfg)
	if r.current != before || failed {
		r.notify(cfg, nil)
	}
}

// load reads the settings. A settings file that has disappeared or become empty is an error.
func (r *reader) load() (*Config, error) {
	for _, file := range r.existed {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("the settings file %s has gone; what it said stays in effect until it is back", file)
		case err == nil && info.Size() == 0:
			return nil, fmt.Errorf("the settings file %s is empty; what it said stays in effect, write {} to mean no settings", file)
		}
	}
	return Load(r.opts)
}

// files returns all files that matter, including those that do not exist yet.
func (r *reader) files() []string {
	paths, err := FindPaths(r.opts.Home, r.opts.Env)
	if err != nil {
		return r.existed // Load reports the error
	}
	return slices.Concat(r.opts.allFiles(paths), r.extras)
}

// readPlain reads a regular file; a pipe would block.
func readPlain(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return readFile(file)
}
