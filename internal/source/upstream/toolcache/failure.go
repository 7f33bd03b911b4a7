package toolcache

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"collie/internal/tool"
)

// Stable codes for why a file or shared place cannot be read or written. Statistics count by them.
const (
	causeReadOnly = "read_only"     // by the mode of the file or its folder
	causeFull     = "disk_full"     // no space, or over a quota
	causeSlow     = "slow"          // file work exceeded its time limit
	causeLocked   = "lock_busy"     // another process holds the lock
	causeNewer    = "newer_version" // written by a newer Collie
	causeConflict = "conflict"      // others changed it on every try
	causeCorrupt  = "corrupt"       // not a cache file
	causeNoFile   = "no_file"       // a folder, a device or the like
	causeSkipped  = "skipped"       // skipped after a recent failure
	causeOther    = "other"
)

// causedError is an error with a code.
type causedError struct {
	code string
	err  *tool.Error
}

func (c *causedError) Error() string { return c.err.Error() }

// Unwrap returns the [tool.Error], which has the hint.
func (c *causedError) Unwrap() error { return c.err }

func newCaused(code, op, path, message, hint string, err error) error {
	return &causedError{code, &tool.Error{Op: op, Kind: tool.Unavailable, Subject: path, Message: message, Hint: hint, Err: err}}
}

// causeOf returns the code for a failure.
func causeOf(err error) string {
	if c, ok := errors.AsType[*causedError](err); ok {
		return c.code
	}
	switch {
	case errors.Is(err, ErrConflict):
		return causeConflict
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return causeReadOnly
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, errQuota):
		return causeFull
	case errors.Is(err, context.DeadlineExceeded):
		return causeSlow
	}
	return causeOther
}

// warner logs one warning for each cause in 10 minutes.
type warner struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

const warnEvery = 10 * time.Minute

func newWarner(log *slog.Logger, now func() time.Time) *warner {
	return &warner{log: log, now: now, last: map[string]time.Time{}}
}

func (w *warner) warn(cause, message string, args ...any) {
	now := w.now()
	w.mu.Lock()
	last, before := w.last[cause]
	quiet := before && now.Sub(last) < warnEvery && !now.Before(last)
	if !quiet {
		w.last[cause] = now
	}
	w.mu.Unlock()
	if quiet {
		w.log.Debug(message, append(args, "cause", cause)...) //nolint:sloglint // a constant of the caller's
		return
	}
	w.log.Warn(message, append(args, "cause", cause)...) //nolint:sloglint // a constant of the caller's
}
