package httpstore

import (
	"net/http"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// SetIdle sets how long an event stream may be silent.
func (s *Store) SetIdle(d time.Duration) { s.idle = d }

// HandlerThatBeats is Handler with a heartbeat of another length, and without the mux.
func HandlerThatBeats(b toolcache.Backend, every time.Duration) http.Handler {
	h := &handler{backend: b, heartbeat: every, hub: hub{backend: b}}
	return http.HandlerFunc(h.events)
}
