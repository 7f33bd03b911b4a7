package httpstore_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/httpstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
	"collie/internal/tool"
)

const token = "s3cr3t-token"

// peer serves a handle of the place to those who know the token.
func peer(t *testing.T, place *toolcachetest.Place) *httptest.Server {
	t.Helper()
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	return serve(t, httpstore.Handler(b))
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func open(t *testing.T, base string) *httpstore.Store {
	t.Helper()
	s, err := httpstore.Open(base, httpstore.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(server, entry string) toolcache.Change {
	return toolcache.Change{Server: server, Entry: json.RawMessage(entry)}
}

func TestBackend(t *testing.T) {
	t.Parallel()
	for name, peers := range map[string]int{"OnePeer": 1, "TwoPeersOfOnePlace": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var place toolcachetest.Place
			var bases []string
			for range peers {
				bases = append(bases, peer(t, &place).URL)
			}
			var opened atomic.Int32
			toolcachetest.RunBackend(t, func(t *testing.T) toolcache.Backend {
				t.Helper()
				s, err := httpstore.Open(bases[int(opened.Add(1))%len(bases)], httpstore.Options{Token: token})
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	root := peer(t, &place).URL
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	below := serve(t, http.StripPrefix("/behind/proxy", httpstore.Handler(b))).URL + "/behind/proxy"
	for _, base := range []string{root, root + "/", root + httpstore.Path, root + httpstore.Path + "/", " " + root + "\n", below, below + "/", below + httpstore.Path} {
		if _, err := open(t, base).Load(t.Context()); err != nil {
			t.Errorf("%q: %v", base, err)
		}
		if ok, err := open(t, base).Lease(t.Context(), "a/b", "h", 0); err != nil || !ok {
			t.Errorf("%q: lease %v, %v", base, ok, err)
		}
	}
	for _, base := range []string{
		"", "collie.example", "/path", "ftp://collie.example", "http://", "http://collie:s3cr3t@collie.example",
		"http://s3cr3t:s3cr3t@%zz", "http://collie.example?token=s3cr3t", "http://collie.example/#s3cr3t", "http://[::1",
	} {
		_, err := httpstore.Open(base, httpstore.Options{})
		var e *tool.Error
		if !errors.As(err, &e) || e.Kind != tool.Invalid || e.Hint == "" {
			t.Errorf("%q: %v, want kind %s with a hint", base, err, tool.Invalid)
		}
		if strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("the error for %q shows the secret: %v", base, err)
		}
	}
}

// What has not changed is not sent again.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	inner, statuses := httpstore.Handler(b), make(chan int, 10)
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, r)
		statuses <- rec.Code
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	s := open(t, srv.URL)
	want := func(status int, entries int) {
		t.Helper()
		snap, err := s.Load(t.Context())
		if err != nil || len(snap.Entries) != entries {
			t.Errorf("loaded %+v, %v; want %d entries", snap, err, entries)
		}
		clear(snap.Entries) // ours, and not what the next Load gives
		if got := <-statuses; got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
	want(200, 0)
	want(304, 0)
	if _, err := b.Commit(t.Context(), 0, []toolcache.Change{put("a", `{}`)}); err != nil {
		t.Fatal(err)
	}
	want(200, 1)
	want(304, 1)
}

func TestLongBodiesAreCompressed(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	inner, lengths := httpstore.Handler(b), make(chan int64, 10)
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		if r.Method == http.MethodPatch {
			lengths <- r.ContentLength
		}
		inner.ServeHTTP(rec, r)
		if r.Method == http.MethodGet {
			lengths <- int64(rec.Body.Len())
		}
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	s := open(t, srv.URL)
	entry := `{"v":"` + strings.Repeat("列车时刻", 100_000) + `"}`
	if _, err := s.Commit(t.Context(), 0, []toolcache.Change{put("a", entry)}); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Load(t.Context())
	if err != nil || string(snap.Entries["a"]) != entry {
		t.Errorf("loaded %d bytes, %v", len(snap.Entries["a"]), err)
	}
	for _, way := range []string{"out", "back"} {
		if n := <-lengths; n > int64(len(entry)/5) {
			t.Errorf("%d bytes on the way %s of %d", n, way, len(entry))
		}
	}
}
