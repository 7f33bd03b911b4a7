package kernel

import (
	"context"
	"sync/atomic"

	"collie/internal/tool"
)

// This file tells whether a request that failed came after a write that the kernel accepted.

// WriteWatch knows how the last write ended that was sent with its context. It is safe for concurrent use.
type WriteWatch struct{ accepted atomic.Bool }

type watchKey struct{}

// WatchWrites returns a context whose writes are watched.
func WatchWrites(ctx context.Context) (context.Context, *WriteWatch) {
	w := &WriteWatch{}
	return context.WithValue(ctx, watchKey{}, w), w
}

// Accepted reports whether there was a write, and the kernel accepted the last one.
func (w *WriteWatch) Accepted() bool { return w.accepted.Load() }

// noteWrite tells who watches ctx how a write ended.
func noteWrite(ctx context.Context, err error) {
	if w, ok := ctx.Value(watchKey{}).(*WriteWatch); ok {
		w.accepted.Store(err == nil)
	}
}

// IsRequestError reports whether e is the error of one request to the kernel, as this package returns it.
func IsRequestError(e *tool.Error) bool { return e.Op == "ask SiYuan" }
