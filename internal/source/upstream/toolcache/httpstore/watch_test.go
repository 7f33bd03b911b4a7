package httpstore_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/httpstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
)

const patience = 10 * time.Second

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s: nothing within %v", what, patience)
	}
}

// What happens while a peer restarts is told afterwards.
func TestPeerRestarts(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	start := func(l net.Listener) *httptest.Server {
		srv := httptest.NewUnstartedServer(httpstore.Handler(b))
		_ = srv.Listener.Close()
		srv.Listener = l
		srv.Start()
		return srv
	}
	srv := start(l)
	s := open(t, "http://"+address)
	if _, err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 10)
	go func() { _ = s.Watch(t.Context(), func() { told <- struct{}{} }) }()
	commit := func(base uint64) {
		t.Helper()
		other := place.Open()
		defer func() { _ = other.Close() }()
		if _, err := other.Commit(t.Context(), base, []toolcache.Change{{Server: "a", Entry: json.RawMessage(`{}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0)
	within(t, "before the restart", told)
	srv.CloseClientConnections()
	srv.Close()
	commit(1)
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skipf("somebody else took the port: %v", err)
	}
	srv = start(l)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { _ = s.Close() })
	within(t, "after the restart", told)
	commit(2)
	within(t, "on the new connection", told)
}

// A stream that is silent for too long is given up; one whose heart beats is not.
func TestSilentStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		beat  time.Duration
		again bool
	}{"silent": {time.Hour, true}, "alive": {20 * time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var place toolcachetest.Place
			b := place.Open()
			t.Cleanup(func() { _ = b.Close() })
			inner, asked := httpstore.HandlerThatBeats(b, c.beat), make(chan struct{}, 100)
			s := open(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				inner.ServeHTTP(w, r)
			})).URL)
			s.SetIdle(400 * time.Millisecond)
			go func() { _ = s.Watch(t.Context(), func() {}) }()
			within(t, "the first stream", asked)
			if c.again {
				within(t, "the second stream", asked)
				return
			}
			select {
			case <-asked:
				t.Error("a stream that is alive was given up")
			case <-time.After(time.Second):
			}
		})
	}
}

func TestWatchIsSilentAboutItself(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	s := open(t, peer(t, &place).URL)
	other := open(t, peer(t, &place).URL)
	var told atomic.Int32
	wake := make(chan struct{}, 1)
	go func() {
		_ = s.Watch(t.Context(), func() {
			told.Add(1)
			select {
			case wake <- struct{}{}:
			default:
			}
		})
	}()
	g, err := uint64(0), error(nil)
	for range 50 {
		if g, err = s.Commit(t.Context(), g, []toolcache.Change{put("a", `{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = other.Commit(t.Context(), g, []toolcache.Change{put("a", `{"b":1}`)}); err != nil {
		t.Fatal(err)
	}
	within(t, "another's commit", wake)
	if n := told.Load(); n > 10 { // of a machine so slow that an answer takes a second
		t.Errorf("told %d times of 50 commits of ours and one of another", n)
	}
}

// Peers that send strange events do no harm.
func TestStrangeEvents(t *testing.T) {
	t.Parallel()
	s := open(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, "\ufeff: hello\r\n\r\nevent: other\ndata: 1\n\nid: 7\nretry: 1\nevent: generation\ndata: x\n\n")
	})).URL)
	if err := s.Watch(t.Context(), func() { t.Error("told something") }); err == nil {
		t.Error("no error")
	}
	var sent atomic.Int32
	s = open(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: generation\ndata: %d\n\n", sent.Add(1))
	})).URL)
	told := make(chan struct{}, 10)
	go func() { _ = s.Watch(t.Context(), func() { told <- struct{}{} }) }()
	for range 3 {
		within(t, "streams of one event each", told)
	}
}
