package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file reads the levels of notebooks from two files: our own, and that of the public plugin (see pluginFolder).

// LevelsOptions are the optional parts of [Levels].
type LevelsOptions struct {
	// Default is the level of a notebook that no file lists; the zero value means Read. None cannot be the default: a
	// workspace without listed levels can be read.
	Default Level
	// MaxAge is how long a snapshot serves reads; default 1 s. KeepGood is how long the last good one is used if the
	// files cannot be read; default 10 minutes.
	MaxAge, KeepGood time.Duration
}

// Levels reads and writes the levels of one workspace: the public plugin's file and ours. If both list a notebook,
// the lower level counts. It is safe for concurrent use.
type Levels struct {
	kernel *kernel.Client
	opts   LevelsOptions

	reading    *sharedReading[*Snapshot]
	writeToken chan struct{} // holds a token while nobody sets a level

	mu         sync.Mutex
	lastRead   map[kernel.ID]Level // the last good reading; nil before it
	lastReadAt time.Time           // when that reading began
}

// NewLevels returns the levels of the workspace behind k. It reads nothing yet.
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
	l := &Levels{kernel: k, opts: opts, reading: newSharedReading[*Snapshot](), writeToken: make(chan struct{}, 1)}
	l.writeToken <- struct{}{}
	return l
}

// Snapshot returns the current levels. For a read it may be up to MaxAge old; for a write it was read after this call
// began.
//
// If the files cannot be read, writes get an error of kind LevelsUnknown. Reads get the last good snapshot, with
// every level lowered to Read, if it is recent enough, else that error. If the reason is that no kernel answers, or
// that it refuses the token, the error says that instead of LevelsUnknown.
func (l *Levels) Snapshot(ctx context.Context, forWrite bool) (*Snapshot, error) {
	s, err := l.reading.get(ctx, l.opts.MaxAge, forWrite, l.read)
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

// Forget makes the next snapshot, with its list of notebooks, be read anew. The last good reading is kept.
func (l *Levels) Forget() { l.reading.invalidate() }

// read reads both files into a snapshot.
func (l *Levels) read(ctx context.Context) (*Snapshot, error) {
	began := time.Now()
	f, err := l.readFiles(ctx)
	if err != nil {
		return nil, err
	}
	listed := mergeLower(f.plugin, f.own)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastRead, l.lastReadAt = listed, began
	return NewSnapshot(listed, l.opts.Default, l.kernel.Notebooks), nil
}

// lastGood returns the last good reading with every level lowered to Read; nil if none is recent enough.
func (l *Levels) lastGood() *Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastRead == nil || time.Since(l.lastReadAt) > l.opts.KeepGood {
		return nil
	}
	s := NewSnapshot(capLevels(l.lastRead, Read), min(l.opts.Default, Read), l.kernel.Notebooks)
	s.staleSince = l.lastReadAt
	return s
}

// listings are the levels listed in the two files.
type listings struct {
	plugin, own map[kernel.ID]Level
	text        []byte // of our file; nil if there is none
}

// readFiles reads both files in parallel.
func (l *Levels) readFiles(ctx context.Context) (listings, error) {
	var f listings
	g, gctx := errgroup.WithContext(ctx)
	read := func(path string, levels *map[kernel.ID]Level, text *[]byte) {
		g.Go(func() error {
			raw, err := readFile(gctx, l.kernel, path)
			if err != nil {
				if isFileUnknown(gctx, err) {
					return err
				}
				return unreadableLevelsError(path, err)
			}
			*text = raw
			if *levels, err = parseLevels(raw); err != nil {
				return unreadableLevelsError(path, err)
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

// unreadableLevelsError returns the error for levels that cannot be read, so that it is unknown what is allowed.
func unreadableLevelsError(path string, err error) *tool.Error {
	return &tool.Error{
		Op: "read levels", Kind: tool.LevelsUnknown, Subject: path, Err: err, RetryAfter: time.Second,
		Message: "the levels of the notebooks cannot be read, so nothing is written",
		Hint:    "repair or remove that file in the SiYuan workspace; without it every notebook can be read",
		Facts:   map[string]any{"retryable": true},
	}
}
