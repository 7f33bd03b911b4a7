package httpstore_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/httpstore"
	"collie/internal/tool"
)

// Answers that no Collie gives are errors that say so, and nothing of them is believed.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	say := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   tool.ErrorKind
		says   string
	}{
		"page":            {say(200, "<html>Please sign in</html>", "Content-Type", "text/html"), tool.Upstream, "cannot be read"},
		"empty":           {say(200, ""), tool.Upstream, "cannot be read"},
		"cut":             {say(200, `{"generation":4,"entries":{"a":{"v":`), tool.Upstream, "cannot be read"},
		"shorter":         {say(200, `{"generation":4,`, "Content-Length", "1000"), tool.Upstream, "cannot be read"},
		"array":           {say(200, `[]`), tool.Upstream, "cannot be read"},
		"nothing in it":   {say(200, `{}`), tool.Upstream, "without a generation"},
		"null":            {say(200, `null`), tool.Upstream, "without a generation"},
		"entry a string":  {say(200, `{"generation":1,"entries":{"a":"x"}}`), tool.Upstream, `"a"`},
		"entry null":      {say(200, `{"generation":1,"entries":{"a":null}}`), tool.Upstream, `"a"`},
		"negative":        {say(200, `{"generation":-1,"entries":{}}`), tool.Upstream, "cannot be read"},
		"unasked 304":     {say(304, ""), tool.Upstream, "304"},
		"gzip that isn't": {say(200, `{"generation":1}`, "Content-Encoding", "gzip"), tool.Upstream, "gzip"},
		"brotli":          {say(200, `x`, "Content-Encoding", "br"), tool.Upstream, `"br"`},
		"bomb":            {bomb, tool.Upstream, "64 MiB"},
		"no token":        {say(401, ``), tool.Denied, "401"},
		"wrong token":     {say(403, `{"error":{"type":"permission_denied","message":"令牌无效"}}`), tool.Denied, "令牌无效"},
		"not there":       {say(404, "404 page not found"), tool.Unavailable, "404"},
		"moved":           {say(302, "", "Location", "https://elsewhere.example/"), tool.Unavailable, "302"},
		"broken":          {say(500, `{"error":{"message":"a\u001b[31mred\u0007 `+strings.Repeat("long", 500)+`"}}`), tool.Unavailable, "a [31mred "},
		"busy":            {say(503, `{"error":"x"}`), tool.Unavailable, "503"},
		"tea":             {say(418, ``), tool.Upstream, "418"},
		"too large":       {say(413, ``), tool.TooLarge, "413"},
		"created":         {say(201, `{"generation":1}`), tool.Unavailable, "201"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}, tool.Unavailable, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, serve(t, c.answer).URL)
			_, loadErr := s.Load(t.Context())
			_, commitErr := s.Commit(t.Context(), 9, []toolcache.Change{put("a", `{}`)})
			ok, leaseErr := s.Lease(t.Context(), "a", "h", time.Minute)
			watchErr := s.Watch(t.Context(), func() { t.Error("told something") })
			if loadErr == nil || !strings.Contains(loadErr.Error(), c.says) || tool.KindOf(loadErr) != c.kind {
				t.Errorf("load: %v (%s), want %s that says %q", loadErr, tool.KindOf(loadErr), c.kind, c.says)
			}
			for call, err := range map[string]error{"commit": commitErr, "lease": leaseErr, "watch": watchErr} {
				if err == nil || errors.Is(err, toolcache.ErrConflict) {
					t.Errorf("%s: %v, want an error, and no conflict", call, err)
				}
			}
			if ok {
				t.Error("a lease came of it")
			}
			for _, err := range []error{loadErr, commitErr, leaseErr, watchErr} {
				var e *tool.Error
				if !errors.As(err, &e) || e.Hint == "" && e.Kind != tool.TooLarge && e.Kind != tool.Unavailable {
					t.Errorf("%v has no hint", err)
				}
				if s := fmt.Sprintf("%v %+v", err, e); strings.Contains(s, token) || strings.ContainsAny(s, "\x1b\a") || len(s) > 2000 {
					t.Errorf("an error unfit to be shown: %q", s)
				}
			}
		})
	}
}

// bomb unpacks to 70 MiB.
func bomb(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(bytes.Repeat(b.Bytes(), 70))
}

// The token goes to the peer and to nobody whom it names.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := open(t, serve(t, http.RedirectHandler(other.URL, code)).URL)
		_, err := s.Load(t.Context())
		var e *tool.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, other.URL) {
			t.Errorf("%d: %v, want a hint that names the address", code, err)
		}
		if _, err := s.Commit(t.Context(), 0, []toolcache.Change{put("a", `{}`)}); err == nil {
			t.Errorf("%d: committed", code)
		}
	}
}

// A peer that takes connections and says nothing costs what the caller allows.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := open(t, "http://"+l.Addr().String())
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Load(ctx); !errors.Is(err, context.DeadlineExceeded) || tool.KindOf(err) != tool.Timeout {
		t.Errorf("load: %v, want a timeout", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := open(t, "http://"+l.Addr().String())
	_, loadErr := s.Load(t.Context())
	for _, err := range []error{loadErr, s.Watch(t.Context(), func() {})} {
		var e *tool.Error
		if !errors.As(err, &e) || e.Kind != tool.Unavailable || e.Hint == "" {
			t.Errorf("%v, want %s with a hint", err, tool.Unavailable)
		}
	}
}

func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	srv := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	s, err := httpstore.Open(srv.URL, httpstore.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 2)
	go func() { _, err := s.Load(t.Context()); errs <- err }()
	go func() { errs <- s.Watch(t.Context(), func() {}) }()
	<-asked
	<-asked
	_ = s.Close()
	for range 2 {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a call in flight ended with %v", err)
		}
	}
}
