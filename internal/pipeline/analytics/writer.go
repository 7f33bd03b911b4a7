package analytics

import (
	"bytes"
	"time"
)

// write writes lines to the files until no more will come, and removes old files.
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

// flush writes all queued lines. Lines that cannot be written are dropped and counted, because keeping a
// whole day's lines in memory for a full disk is not worth it.
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
