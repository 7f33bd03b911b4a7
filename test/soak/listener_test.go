//go:build unix

package soak_test

import (
	"context"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// listener is a session that is open all the time and counts the notifications about changes.
type listener struct {
	name string
	session
	open chan struct{} // closed once it misses no notification

	mu    sync.Mutex
	lists int            // notifications that the tools have changed
	uris  map[string]int // notifications that a resource has changed
}

// runListener reads notifications until ctx ends.
func (r *soak) runListener(ctx context.Context, l *listener, uris []string) {
	err := l.listen(ctx, uris, func(method string, params gjson.Result) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch method {
		case "":
			close(l.open)
		case "notifications/tools/list_changed":
			l.lists++
		case "notifications/resources/updated":
			l.uris[params.Get("uri").Str]++
		}
	})
	if ctx.Err() == nil {
		r.recordWrongf("the listener %s stopped to hear: %v", l.name, err)
	}
	l.close()
}

// listChanges returns how often it was told that the tools changed.
func (l *listener) listChanges() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists
}

// resourceChanges returns how often it was told that a resource changed.
func (l *listener) resourceChanges(uri string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uris[uri]
}

// awaitAllHear calls do, and waits until the count heard has grown for every listener.
func (r *soak) awaitAllHear(ctx context.Context, what string, heard func(*listener) int, do func()) {
	before := make([]int, len(r.listeners))
	for i, l := range r.listeners {
		before[i] = heard(l)
	}
	do()
	begun := time.Now()
	for i, l := range r.listeners {
		for heard(l) == before[i] {
			if time.Since(begun) > backWithin {
				r.recordWrongf("the listener %s did not hear of %s within %v", l.name, what, backWithin)
				break
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
	r.recordDuration("notice", what, time.Since(begun))
}
