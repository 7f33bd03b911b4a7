package kernel

import (
	"context"
	"sync/atomic"

	"collie/internal/tool"
)

// This file tells whether a call that failed had written something before.

// WriteWatch knows whether the kernel accepted a write that was sent with its context. It is safe for concurrent use.
type WriteWatch struct{ accepted atomic.Bool }

type watchKey struct{}

// WatchWrites returns a context whose writes are watched.
func WatchWrites(ctx context.Context) (context.Context, *WriteWatch) {
	w := &WriteWatch{}
	return context.WithValue(ctx, watchKey{}, w), w
}

// Accepted reports whether the kernel accepted at least one write.
func (w *WriteWatch) Accepted() bool { return w.accepted.Load() }

// recordWrite tells who watches ctx that a write was accepted, if err is nil.
func recordWrite(ctx context.Context, err error) {
	if w, ok := ctx.Value(watchKey{}).(*WriteWatch); ok && err == nil {
		w.accepted.Store(true)
	}
}

// IsRequestError reports whether e is the error of one request to the kernel, as this package returns it.
func IsRequestError(e *tool.Error) bool { return e.Op == "ask SiYuan" }
