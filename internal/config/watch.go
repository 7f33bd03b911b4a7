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

// WatchOptions are what [Watch] needs to be told only sometimes.
type WatchOptions struct {
	// Extra names further files whose contents count, such as the envFile of server entries. It
	// is asked after each reading; relative paths and files that do not exist are fine.
	Extra func(*Config) []string
	// Poll is how often files are looked at where the system tells nothing; default 2 s.
	Poll time.Duration
	// Debounce is how long a file has to be quiet before it is read; default 300 ms. A file that
	// never is quiet is read after ten times that.
	Debounce time.Duration
	// Now has the files read at once, quiet or not; what it gives is called when f has been told what
	// is new. Nil asks for nothing.
	Now <-chan func()
	// PollOnly asks the system for no notices.
	PollOnly bool
	Logger   *slog.Logger // nil discards
}

// Watch calls f when the files that o reads say something else than cfg, which o gave before, and
// then whenever they say something else than the last time. It returns when ctx ends,
// and calls f from within, never twice at once; what it started has ended by then.
//
// f gets the new settings, or an error if they cannot be read or are wrong, once for each such
// text; the ones told before then stay in effect, and when the files are right again f is told,
// even if nothing else has changed. A change of white space or comments alone is not told. A file
// that has vanished or has become empty is such an error as well: an editor may be about to write
// it, and no gateway should stop all servers for that. A project's file may vanish.
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
	r := &reader{opts: o, extra: w.Extra, told: f, had: slices.Clone(cfg.Files), seen: maps.Clone(cfg.seen)}
	if r.seen == nil { // settings that no file has said
		r.seen = looks{}
	}
	r.use(cfg)
	r.run(ctx, &w)
}

// reader knows what was told last.
type reader struct {
	opts  Options
	extra func(*Config) []string
	told  func(*Config, error)

	seen    looks
	had     []string // settings files that were there
	extras  []string // further files
	current string   // fingerprint of the settings that were told
	wrong   string   // the error that was told after them, if any
}

// use makes cfg what was told last.
func (r *reader) use(cfg *Config) {
	r.extras = nil
	if r.extra != nil {
		r.extras = r.extra(cfg)
	}
	for _, file := range cfg.Files {
		if !slices.Contains(r.had, file) {
			r.had = append(r.had, file)
		}
	}
	r.current, r.wrong = r.fingerprint(cfg), ""
}

// fingerprint tells apart what must be told apart.
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

// read reads everything and tells what is new.
func (r *reader) read() {
	cfg, err := r.load()
	if err != nil {
		if r.wrong != err.Error() {
			r.wrong = err.Error()
			r.told(nil, err)
		}
		return
	}
	before, failed := r.current, r.wrong != ""
	r.use(cfg)
	if r.current != before || failed {
		r.told(cfg, nil)
	}
}

func (r *reader) load() (*Config, error) {
	for _, file := range r.had {
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

// files are all files that count, with those that do not exist yet.
func (r *reader) files() []string {
	paths, err := FindPaths(r.opts.Home, r.opts.Env)
	if err != nil {
		return r.had // Load tells the error
	}
	return slices.Concat(r.opts.all(paths), r.extras)
}

// readPlain reads a file that is one: a pipe would keep us waiting.
func readPlain(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("no plain file")
	}
	return readFile(file)
}
