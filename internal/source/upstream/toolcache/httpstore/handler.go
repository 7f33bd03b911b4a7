package httpstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Bounds of what a peer may ask.
const (
	maxHolder = 256
	maxLease  = time.Hour
)

// Handler serves b at [Path] and below. Whoever mounts it checks who may ask.
//
// b is a handle of its own, not the one that a [toolcache.Cache] here uses: what peers commit
// must reach that Cache as another's commit. The Handler watches b while somebody listens to
// its events and does not close it; it needs no Close itself: everything ends with the
// requests.
func Handler(b toolcache.Backend) http.Handler {
	h := &handler{backend: b, heartbeat: heartbeat, hub: hub{backend: b}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, h.load)
	mux.HandleFunc("PATCH "+Path, h.commit)
	mux.HandleFunc("GET "+Path+"/events", h.events)
	mux.HandleFunc("POST "+Path+"/leases/{server}", h.lease)
	return mux
}

type handler struct {
	backend   toolcache.Backend
	heartbeat time.Duration
	hub       hub
}

func (h *handler) load(w http.ResponseWriter, r *http.Request) {
	snap, err := h.backend.Load(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	h.hub.tell(snap.Generation)
	tag := etag(snap.Generation)
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	answer(w, r, snapshot{&snap.Generation, snap.TotalWrites, snap.Entries})
}

func (h *handler) commit(w http.ResponseWriter, r *http.Request) {
	match := r.Header.Get("If-Match")
	if match == "" {
		refuse(w, http.StatusPreconditionRequired, tool.Invalid, "the header If-Match is missing, expected the ETag of a generation")
		return
	}
	base, err := parseETag(match)
	if err != nil {
		refuse(w, http.StatusBadRequest, tool.Invalid, "the header If-Match is wrong: "+err.Error())
		return
	}
	var p patch
	if !read(w, r, &p) {
		return
	}
	changes := make([]toolcache.Change, len(p.Changes))
	for i, c := range p.Changes {
		changes[i].Server = c.Server
		switch {
		case isObject(c.Entry):
			changes[i].Entry = c.Entry
		case !isNull(c.Entry):
			refuse(w, http.StatusBadRequest, tool.Invalid, fmt.Sprintf("changes[%d].entry is neither an object nor null", i))
			return
		}
	}
	generation, err := h.backend.Commit(r.Context(), base, changes)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("ETag", etag(generation))
	answer(w, r, committed{&generation})
	h.hub.tell(generation)
}

func (h *handler) lease(w http.ResponseWriter, r *http.Request) {
	var l leaseRequest
	if !read(w, r, &l) {
		return
	}
	if l.Holder == "" || len(l.Holder) > maxHolder {
		refuse(w, http.StatusBadRequest, tool.Invalid, fmt.Sprintf("holder has %d bytes, expected 1 to %d", len(l.Holder), maxHolder))
		return
	}
	if l.Millis < 0 || l.Millis > maxLease.Milliseconds() {
		refuse(w, http.StatusBadRequest, tool.Invalid, fmt.Sprintf("ms is %d, expected 0 to %d", l.Millis, maxLease.Milliseconds()))
		return
	}
	ok, err := h.backend.Lease(r.Context(), r.PathValue("server"), l.Holder, time.Duration(l.Millis)*time.Millisecond)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, r, leaseAnswer{&ok})
}

// read decodes the body of a request or answers why it cannot.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, tool.Invalid, "the body has the type "+fmt.Sprintf("%.60q", kind)+", expected application/json")
		return false
	}
	err := decode(http.MaxBytesReader(w, r.Body, maxBody), r.Header.Get("Content-Encoding"), v)
	if err == nil {
		return true
	}
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong || errors.Is(err, errTooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, tool.TooLarge, errTooLarge.Error())
		return false
	}
	refuse(w, http.StatusBadRequest, tool.Invalid, "the body cannot be read: "+err.Error())
	return false
}

// answer sends v, packed if the peer takes that.
func answer(w http.ResponseWriter, r *http.Request, v any) {
	body, gzipped, err := encode(v, strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"))
	if err != nil {
		fail(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Add("Vary", "Accept-Encoding")
	if gzipped {
		h.Set("Content-Encoding", "gzip")
	}
	_, _ = w.Write(body) // the peer has gone
}

// fail answers an error of the backend.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	kind := tool.KindOf(err)
	switch {
	case errors.Is(err, toolcache.ErrConflict):
		refuse(w, http.StatusPreconditionFailed, tool.Busy, "another writer has committed since: load, merge, and try again")
		return
	case errors.Is(err, errTooLarge):
		status, kind = http.StatusInsufficientStorage, tool.TooLarge
	case kind == tool.Invalid:
		status = http.StatusBadRequest
	case kind == tool.TooLarge:
		status = http.StatusRequestEntityTooLarge
	case kind == tool.Unavailable, kind == tool.Timeout, kind == tool.Canceled:
		status = http.StatusServiceUnavailable
	}
	refuse(w, status, kind, err.Error())
}

func refuse(w http.ResponseWriter, status int, kind tool.ErrorKind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": kind, "message": message}}) // the peer has gone
}
