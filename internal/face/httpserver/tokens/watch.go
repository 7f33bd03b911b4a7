package tokens

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

const (
	// pollEvery is how often the file is checked if the system sends no notices.
	pollEvery = 400 * time.Millisecond
	// slowPollEvery is how often it is checked if the system reports all changes.
	slowPollEvery = 30 * time.Second
)

// Watch calls f with the content of the file at path, or the error of reading it: once at the start, and whenever the
// file has changed, until ctx ends. Watch returns only then, and calls f from the goroutine that it runs in, usually
// within half a second of a change. The folder of the file must exist.
func Watch(ctx context.Context, path string, log *slog.Logger, f func([]Token, error)) {
	watch(ctx, path, log, Read, f)
}

// watch is Watch with another way to read the file.
func watch(ctx context.Context, path string, log *slog.Logger, read func(path string) ([]Token, error), f func([]Token, error)) {
	events, failures, every := follow(ctx, path, log)
	look := time.NewTicker(every)
	defer look.Stop()
	before, _ := os.Stat(path) // nil if there is no file
	list, err := read(path)
	f(list, err)
	if err != nil { // perhaps it only could not be read for a moment, which no notice tells
		look.Reset(pollEvery)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case _, ok := <-failures: // notices may have been lost
			if !ok {
				failures = nil
			}
		case e, ok := <-events:
			switch {
			case !ok: // the system stopped sending notices
				events = nil
				look.Reset(pollEvery)
			case filepath.Base(e.Name) != filepath.Base(path):
				continue
			}
		}
		now, statErr := os.Stat(path)
		if statErr != nil {
			now = nil
		}
		changed, failed := !sameFile(before, now), err != nil
		if !changed && !failed {
			continue
		}
		before = now
		switch list, err = read(path); {
		case err != nil && !failed: // later failures keep this pace, so that notices of other files do not put the next try off
			look.Reset(pollEvery)
		case err == nil && events != nil:
			look.Reset(every)
		}
		if changed || err == nil {
			f(list, err)
		}
	}
}

// follow subscribes to notices about the folder of a file, until ctx ends.
func follow(ctx context.Context, path string, log *slog.Logger) (<-chan fsnotify.Event, <-chan error, time.Duration) {
	dir := filepath.Dir(path)
	if !atomicfile.NotifiesChanges(dir) {
		return nil, nil, pollEvery
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(dir); err != nil {
			_ = w.Close() // it is not in use
		}
	}
	if err != nil {
		log.Debug("no notices of changes of the tokens, the file is looked at instead", "error", err)
		return nil, nil, pollEvery
	}
	context.AfterFunc(ctx, func() { _ = w.Close() })
	return w.Events, w.Errors, slowPollEvery
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
