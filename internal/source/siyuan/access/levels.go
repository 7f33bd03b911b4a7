package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// LevelsOptions are the optional parts of [Levels].
type LevelsOptions struct {
	// Default is the level of a notebook that no file lists; the zero value is Read. There is no
	// way to have none by default: a workspace that lists nothing can be read.
	Default Level
	// MaxAge is how long a snapshot serves reads; default 1 s. KeepGood is how long the last
	// good one does when the files cannot be read; default 10 minutes.
	MaxAge, KeepGood time.Duration
}

// Levels reads and writes the levels of one workspace: the public plugin's file and our own,
// where the lower level counts if both list a notebook. It is safe for
// concurrent use.
type Levels struct {
	kernel *kernel.Client
	opts   LevelsOptions

	latest  *latest[*Snapshot]
	setting chan struct{} // holds a token while nobody sets a level

	mu     sync.Mutex
	good   map[kernel.ID]Level // what the last good reading brought; nil before it
	goodAt time.Time           // when that began
}

// NewLevels returns the levels of the workspace behind k. Nothing is read before it is needed.
func NewLevels(k *kernel.Client, opts LevelsOptions) *Levels {
	if opts.Default == None {
		opts.Default = Read
	}
	if opts.MaxAge <= 0 {
		opts.MaxAge = time.Second
	}
	if opts.KeepGood <= 0 {
		opts.KeepGood = 10 * time.Minute
	}
	l := &Levels{kernel: k, opts: opts, latest: newLatest[*Snapshot](), setting: make(chan struct{}, 1)}
	l.setting <- struct{}{}
	return l
}

// Snapshot returns the levels as they are now; reads may get a snapshot that is up to MaxAge
// old, writes get one read after this call began. When the files cannot be read: for writes an
// error of kind LevelsUnknown, for reads the last good snapshot with every level at most Read,
// if it is recent enough, else that error.
//
// Where the reason is not the files but that there is no kernel, or that it does not accept the
// token, the error says that instead of LevelsUnknown; what is allowed is the same.
func (l *Levels) Snapshot(ctx context.Context, forWrite bool) (*Snapshot, error) {
	s, err := l.latest.get(ctx, l.opts.MaxAge, forWrite, l.read)
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, &tool.Error{Op: "read levels", Kind: tool.Canceled, Err: context.Cause(ctx)}
	}
	if !forWrite {
		if old := l.lastGood(); old != nil {
			return old, nil
		}
	}
	return nil, err
}

// Forget drops what is remembered, so that the next snapshot is read anew, its list of
// notebooks too.
func (l *Levels) Forget() { l.latest.forget() }

// read makes a snapshot of both files.
func (l *Levels) read(ctx context.Context) (*Snapshot, error) {
	began := time.Now()
	f, err := l.files(ctx)
	if err != nil {
		return nil, err
	}
	listed := lower(f.plugin, f.own)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good, l.goodAt = listed, began
	return NewSnapshot(listed, l.opts.Default, l.kernel.Notebooks), nil
}

// lastGood is the last good reading with every level at most Read; nil if there is none that is
// recent enough.
func (l *Levels) lastGood() *Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.good == nil || time.Since(l.goodAt) > l.opts.KeepGood {
		return nil
	}
	s := NewSnapshot(capped(l.good, Read), min(l.opts.Default, Read), l.kernel.Notebooks)
	s.staleSince = l.goodAt
	return s
}

// listings are what the two files list.
type listings struct {
	plugin, own map[kernel.ID]Level
	text        []byte // of our file; nil if there is none
}

// files reads both files at once.
func (l *Levels) files(ctx context.Context) (listings, error) {
	var f listings
	g, gctx := errgroup.WithContext(ctx)
	read := func(path string, levels *map[kernel.ID]Level, text *[]byte) {
		g.Go(func() error {
			raw, err := readFile(gctx, l.kernel, path)
			if err != nil {
				if elsewhere(gctx, err) {
					return err
				}
				return unreadable(path, err)
			}
			*text = raw
			if *levels, err = parseLevels(raw); err != nil {
				return unreadable(path, err)
			}
			return nil
		})
	}
	var ignored []byte
	read(pluginFolder+levelsFile, &f.plugin, &ignored)
	read(ownFolder+levelsFile, &f.own, &f.text)
	if err := g.Wait(); err != nil {
		return listings{}, err
	}
	return f, nil
}

// unreadable is the error for levels that cannot be read, so that nobody knows what is allowed.
func unreadable(path string, err error) *tool.Error {
	return &tool.Error{
		Op: "read levels", Kind: tool.LevelsUnknown, Subject: path, Err: err, RetryAfter: time.Second,
		Message: "the levels of the notebooks cannot be read, so nothing is written",
		Hint:    "repair or remove that file in the SiYuan workspace; without it every notebook can be read",
		Facts:   map[string]any{"retryable": true},
	}
}
