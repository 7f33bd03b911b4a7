package analytics

import (
	"bytes"
	"time"
)

// write brings lines into the files until no line will come any more, and lets old files go.
func (l *Log) write() {
	l.prune()
	daily := time.NewTicker(pruneEvery)
	defer daily.Stop()
	failing := false
	for {
		select {
		case <-l.wake:
			l.awaitMore()
		case <-daily.C:
			l.prune()
		case <-l.ended:
			l.flush(&failing)
			return
		}
		l.flush(&failing)
	}
}

// awaitMore waits a moment for more lines.
func (l *Log) awaitMore() {
	t := time.NewTimer(batchTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.full:
	case <-l.ended:
	}
}

// flush writes what waits. What cannot be written is counted: a disk that is full for a day is
// no reason to keep a day in memory.
func (l *Log) flush(failing *bool) {
	for _, b := range l.drain() {
		n, err := l.folder.append(b.day, b.lines)
		if err != nil {
			l.lost.Add(int64(bytes.Count(b.lines[n:], []byte("\n"))))
		}
		switch {
		case err != nil && !*failing:
			l.opts.Logger.Warn("analytics are not written", "dir", l.folder.dir, "error", err)
		case err == nil && *failing:
			l.opts.Logger.Info("analytics are written again", "dir", l.folder.dir)
		}
		*failing = err != nil
	}
}

func (l *Log) prune() {
	if err := l.folder.prune(time.Now().Add(-l.opts.Retention)); err != nil {
		l.opts.Logger.Warn("old analytics are not removed", "dir", l.folder.dir, "error", err)
	}
}
