// Package serverlog keeps what a server wrote to stderr and what else is to be known of it:
// the last lines in memory, and all of them in a log file that is rotated.
//
//	Add ─▶ ring ─▶ followers
//	  └──▶ queue ─▶ <server>.log ─▶ <server>.log.1 ─▶ <server>.log.2
//
// Add never waits for the disk. Several processes may write the log of one server, since
// several gateways may run it; [Tail] reads the files where none runs, and [Log.Tail] what a
// running one has. Lines are kept as they come: whoever adds one has taken the secrets out.
//
// The entry points are [New] and [Tail]. [File] alone is a rotated file for whatever else
// writes lines.
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

// Own is the stream of what we ourselves say about a server.
const Own = "collie"

// Options of a [Log]. The zero value keeps lines in memory only.
type Options struct {
	// Path of the log file; empty writes none. Missing folders are made with mode 0700.
	Path string
	// MaxSize and Files bound the files: a new one begins before the current one has more
	// than MaxSize bytes, and so many are kept. Defaults 5 MiB and 3.
	MaxSize int64
	Files   int
	// Collect is how long lines are gathered into one write; default 100 ms.
	Collect time.Duration
	Logger  *slog.Logger // hears once of each reason why the file is not written; nil discards
}

// The bounds of the queue of a file. What does not fit is left out of the file, but not of
// the memory, and the file says how much that was.
const (
	maxLines = 4096
	maxBytes = 1 << 20
)

// Log is what one server has said. It is safe for concurrent use. Close writes what is
// queued; a Log that is closed still keeps lines in memory.
type Log struct {
	file    File
	collect time.Duration
	log     *slog.Logger
	stop    chan struct{} // closed by Close
	done    sync.WaitGroup

	mu      sync.Mutex // orders lines: ring, followers and queue have them alike
	ring    process.Ring
	bus     event.Bus[process.Entry]
	queue   []byte // lines as the file has them
	lines   int    // in queue
	dropped int    // lines that did not fit since the last write
	total   uint64 // of all dropped
	writing bool
	closed  bool
	problem string // the last one logged
}

// New returns an empty Log, which goes on in the files that are there. It touches none
// before the first line comes.
func New(opts Options) *Log {
	l := &Log{
		file:    File{Path: opts.Path, MaxSize: opts.MaxSize, Files: opts.Files},
		collect: cmp.Or(opts.Collect, 100*time.Millisecond), log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), stop: make(chan struct{}),
	}
	return l
}

// Add adds a text to a stream, each line of it as one: "stderr", "noise", "rpc" or [Own]. It
// does not wait for the disk.
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

// report logs why the file is not written, once a reason.
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

// Entries returns what is in memory, oldest first: the last 500 lines or 64 KiB.
func (l *Log) Entries() []process.Entry { return l.ring.Entries() }

// Dropped counts the lines that are not in the file because they came too fast for it.
func (l *Log) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Tail yields the lines that f wants, oldest first: those in the files that are older than
// what is in memory, if they are wanted, then those in memory, then, with f.Follow, those
// that come, until ctx ends or the Log is closed. A reader that is too slow loses the oldest
// of them and gets a line of [Own] that says so. An error, about reading the files, ends the
// sequence.
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

// followBuffer is how many lines wait for a reader.
const followBuffer = 1024

// history is what f wants of the files and of memory.
func (l *Log) history(f tool.LogFilter, recent []process.Entry) ([]tool.LogLine, error) {
	var fresh []tool.LogLine
	for _, e := range recent {
		if line := lineOf(e); wants(f, line) {
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
			if line := lineOf(*e); wants(f, line) && !yield(line, nil) {
				return
			}
		case <-ctx.Done():
			return
		case <-l.stop:
			return
		}
	}
}

// closeTime is how long Close waits for the disk.
const closeTime = 2 * time.Second

// Close writes what is queued, within 2 s, and ends those who follow. It may be called
// twice.
func (l *Log) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.stop)
	}
	l.mu.Unlock()
	written := make(chan struct{})
	go func() { // ends with the write under way; a disk that hangs may keep it
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
