// Package serverlog keeps the stderr of a server and other messages about it: the last lines in memory, and all lines
// in a rotated log file.
//
//	Add ─▶ ring ─▶ followers
//	  └──▶ queue ─▶ <server>.log ─▶ <server>.log.1 ─▶ <server>.log.2
//
// Add never waits for the disk. Several gateways may run one server and write the same log. [Log.Tail] reads the log
// of a running server, and [Tail] the files alone. Lines are stored as they come: whoever adds one has masked its
// secrets.
//
// The entry points are [New] and [Tail]. [File] can be used alone as a rotated file.
package serverlog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/event"
	"collie/internal/process"
	"collie/internal/tool"
)

// Own is the stream of our own messages about a server.
const Own = "collie"

// Options of a [Log]. The zero value keeps lines in memory only.
type Options struct {
	// Path of the log file; empty means no file. Missing folders are created with mode 0700.
	Path string
	// MaxSize bounds a file in bytes, and Files the number of files kept. Defaults 5 MiB and 3.
	MaxSize int64
	Files   int
	// Collect is how long lines are gathered into one write; default 100 ms.
	Collect time.Duration
	Logger  *slog.Logger // told why the file cannot be written, once until the reason changes; nil discards
}

// Bounds of the queue for the file. Lines that do not fit are missing from the file, but not from memory, and the
// file says how many are missing.
const (
	maxLines = 4096
	maxBytes = 1 << 20
)

// Log is the log of one server. It is safe for concurrent use. Close writes what is queued; a closed Log still keeps
// lines in memory.
type Log struct {
	file    File
	collect time.Duration
	log     *slog.Logger
	stop    chan struct{} // closed by Close
	done    sync.WaitGroup

	mu      sync.Mutex // gives ring, followers and queue the same order of lines
	ring    process.Ring
	bus     event.Bus[process.Entry]
	queue   []byte // lines in the file's format
	lines   int    // number of lines in queue
	dropped int    // lines that did not fit since the last write
	total   uint64 // lines dropped in all
	writing bool
	closed  bool
	problem string // last one logged
}

// New returns a Log that continues existing files. It opens none before the first line comes.
func New(opts Options) *Log {
	l := &Log{
		file:    File{Path: opts.Path, MaxSize: opts.MaxSize, Files: opts.Files},
		collect: cmp.Or(opts.Collect, 100*time.Millisecond), log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), stop: make(chan struct{}),
	}
	return l
}

// Add adds a text, line by line, to a stream: "stderr", "noise", "rpc" or [Own]. It does not wait for the disk.
func (l *Log) Add(stream, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		e := l.ring.Add(stream, strings.TrimRight(line, "\r"))
		l.bus.Publish(e)
		switch {
		case l.file.Path == "" || l.closed:
		case l.lines >= maxLines || len(l.queue)+len(e.Text) > maxBytes:
			l.dropped++
			l.total++
		default:
			l.queue = appendLine(l.queue, e)
			l.lines++
		}
	}
	if len(l.queue) > 0 && !l.writing {
		l.writing = true
		l.done.Go(l.write)
	}
}

// write writes the queue until it is empty.
func (l *Log) write() {
	pause := time.NewTimer(l.collect)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-l.stop:
		}
		l.mu.Lock()
		batch, dropped := l.queue, l.dropped
		if len(batch) == 0 && dropped == 0 {
			l.writing = false
			l.mu.Unlock()
			return
		}
		l.queue, l.lines, l.dropped = nil, 0, 0
		l.mu.Unlock()
		if dropped > 0 {
			batch = appendLine(batch, process.Entry{
				Time: time.Now(), Stream: Own, Text: fmt.Sprintf("%d lines came too fast for the disk and are not in this file", dropped),
			})
		}
		l.report(l.file.writeLines(batch))
		pause.Reset(l.collect)
	}
}

// report logs why the file cannot be written, unless the write before failed for the same reason. nil says that a write
// worked.
func (l *Log) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.problem = ""
		return
	}
	if text := err.Error(); l.problem != text {
		l.problem = text
		l.log.Warn("a server's log is not written to its file", "error", err)
	}
}

// Entries returns the lines in memory, oldest first: at most 500 lines or 64 KiB.
func (l *Log) Entries() []process.Entry { return l.ring.Entries() }

// Dropped returns how many lines came too fast to be written to the file.
func (l *Log) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Tail yields the lines that match f, oldest first: first from the files, then from memory, then, with f.Follow, new
// lines until ctx ends or the Log is closed. A reader that is too slow misses the oldest new lines and gets a line of
// [Own] that says so. An error in reading the files ends the sequence.
func (l *Log) Tail(ctx context.Context, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		l.mu.Lock()
		recent := l.ring.Entries()
		var sub *event.Subscription[process.Entry]
		if f.Follow && !l.closed {
			sub = l.bus.Subscribe(followBuffer)
			defer sub.Close()
		}
		l.mu.Unlock()
		lines, err := l.history(f, recent)
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
		if err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		if sub != nil {
			l.follow(ctx, f, sub, yield)
		}
	}
}

// followBuffer is how many new lines wait for one reader.
const followBuffer = 1024

// history returns the lines of files and memory that match f.
func (l *Log) history(f tool.LogFilter, recent []process.Entry) ([]tool.LogLine, error) {
	var fresh []tool.LogLine
	for _, e := range recent {
		if line := lineOf(e); matchesFilter(f, line) {
			fresh = append(fresh, line)
		}
	}
	before := time.Now()
	if len(recent) > 0 {
		before = lineOf(recent[0]).Time
	}
	enough := f.Last > 0 && len(fresh) >= f.Last || !f.Since.IsZero() && f.Since.After(before)
	if l.file.Path == "" || enough {
		return last(fresh, f.Last), nil
	}
	old, err := l.file.read(f)
	old = slices.DeleteFunc(old, func(line tool.LogLine) bool { return !line.Time.Before(before) })
	return last(append(old, fresh...), f.Last), err
}

func (l *Log) follow(ctx context.Context, f tool.LogFilter, sub *event.Subscription[process.Entry], yield func(tool.LogLine, error) bool) {
	var lost uint64
	for {
		select {
		case e, ok := <-sub.C():
			if !ok {
				return
			}
			if n := sub.Dropped(); n > lost {
				text := fmt.Sprintf("%d lines came too fast to be shown", n-lost)
				if lost = n; !yield(tool.LogLine{Time: e.Time, Stream: Own, Text: text}, nil) {
					return
				}
			}
			if line := lineOf(*e); matchesFilter(f, line) && !yield(line, nil) {
				return
			}
		case <-ctx.Done():
			return
		case <-l.stop:
			return
		}
	}
}

// closeTime bounds how long Close waits for the disk.
const closeTime = 2 * time.Second

// Close writes what is queued, within 2 s, and ends all followers. It may be called twice.
func (l *Log) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.stop)
	}
	l.mu.Unlock()
	written := make(chan struct{})
	go func() { // ends with the current write, which a hanging disk may delay
		l.done.Wait()
		close(written)
	}()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	}
}
