package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/mcp"
)

// An HTTP error status can give a response with an error, a LinkError, or both.
func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	rpc := func(id string, code int) string {
		return `{"jsonrpc":"2.0",` + id + `"error":{"code":` + strconv.Itoa(code) + `,"message":"m"}}`
	}
	tests := []struct {
		name      string
		status    int
		body      string
		answered  bool // Response.Error is set
		linkError bool
	}{
		{name: "modern error", status: 400, body: rpc(`"id":1,`, -32022), answered: true},
		{name: "modern error, no id", status: 400, body: rpc("", -32020), answered: true},
		{name: "modern error, null id", status: 400, body: rpc(`"id":null,`, -32020), answered: true},
		{name: "unknown method", status: 404, body: rpc(`"id":1,`, -32601), answered: true},
		{name: "own code, own id", status: 400, body: rpc(`"id":1,`, 17), answered: true},
		{name: "own code, no id", status: 400, body: rpc("", 17), linkError: true},
		{name: "other id", status: 400, body: rpc(`"id":2,`, -32600), linkError: true},
		{name: "server error, own id", status: 500, body: rpc(`"id":1,`, -32603), answered: true},
		{name: "server error, no id", status: 500, body: rpc("", -32603), answered: true, linkError: true},
		{name: "text", status: 400, body: "Bad Request: no session", linkError: true},
		{name: "not found", status: 404, body: "404 page not found", linkError: true},
		{name: "unauthorized", status: 401, body: rpc(`"id":1,`, -32001), answered: true, linkError: true},
		{name: "too many", status: 429, body: rpc(`"id":1,`, -32000), answered: true, linkError: true},
		{name: "redirect without place", status: 307, linkError: true},
		{name: "redirect that drops the body", status: 302, linkError: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, func(w http.ResponseWriter, r *http.Request, _ receivedRequest) {
				w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="x"`)
				if tt.status == 302 {
					w.Header().Set("Location", "/")
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			r, err := dialHTTP(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
			if (r.Error != nil) != tt.answered {
				t.Errorf("Response.Error = %s", r.Error)
			}
			if !tt.linkError {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := mustBeLinkError(t, err)
			if e.Status != tt.status || e.Body != tt.body || e.Header["WWW-Authenticate"] == "" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestHTTPRefusalExcerpt(t *testing.T) {
	t.Parallel()
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, _ receivedRequest) {
		http.Error(w, strings.Repeat("é", 10_000), http.StatusBadGateway)
	})
	_, err := dialHTTP(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "ping"})
	if e := mustBeLinkError(t, err); len(e.Body) > 2<<10 || len(e.Body) < 2000 {
		t.Errorf("excerpt of %d bytes", len(e.Body))
	}
}

// A session that the server lost is distinguished from a wrong address. If another request has opened a new
// one meanwhile, that is used at once.
func TestHTTPSessionGone(t *testing.T) {
	t.Parallel()
	var current atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		switch {
		case p.method == "initialize":
			w.Header().Set("Mcp-Session-Id", strconv.Itoa(int(current.Add(1))))
			answerJSON(w, responseTo(p, `{}`))
			return
		case p.method == "slow" && r.Header.Get("Mcp-Session-Id") == "1":
			close(entered)
			<-release
		}
		if r.Header.Get("Mcp-Session-Id") != strconv.Itoa(int(current.Load())) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		answerJSON(w, responseTo(p, `{}`))
	})
	l := dialHTTP(t, url, nil, nil)
	initialize := func() {
		t.Helper()
		if _, err := l.Call(t.Context(), &mcp.Request{Method: "initialize"}); err != nil {
			t.Fatal(err)
		}
		l.Agreed("2025-11-25")
	}
	initialize()
	slow := make(chan error, 1)
	go func() {
		_, err := l.Call(t.Context(), &mcp.Request{Method: "slow"})
		slow <- err
	}()
	<-entered
	current.Add(1)
	_, err := l.Call(t.Context(), &mcp.Request{Method: "ping"})
	if e := mustBeLinkError(t, err); e.Status != http.StatusNotFound || !errors.Is(err, mcp.ErrSessionGone) {
		t.Errorf("got %+v", e)
	}
	initialize()
	close(release)
	if err := <-slow; err != nil {
		t.Errorf("the session was there again, but: %v", err)
	}
}

// roundTripFunc is an http.RoundTripper without a network, for tests with a fake clock.
type roundTripFunc func(r *http.Request) *httptest.ResponseRecorder

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	return f(r).Result(), nil
}

func TestHTTPRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		status   int
		after    func() string
		method   string
		deadline time.Duration
		want     time.Duration // until the answer
		ok       bool
	}{
		{name: "seconds", status: 429, after: func() string { return "7" }, method: "tools/call", deadline: time.Minute, want: 7 * time.Second, ok: true},
		{name: "date", status: 429, after: func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, method: "ping", deadline: time.Minute, want: 9 * time.Second, ok: true},
		{name: "at once", status: 429, after: func() string { return "0" }, method: "tools/call", deadline: time.Minute, want: 100 * time.Millisecond, ok: true},
		{name: "past the deadline", status: 429, after: func() string { return "70" }, method: "tools/call", deadline: time.Minute},
		{name: "not told", status: 429, after: func() string { return "" }, method: "tools/call", deadline: time.Minute},
		{name: "busy, a read", status: 503, after: func() string { return "3" }, method: "tools/list", deadline: time.Minute, want: 3 * time.Second, ok: true},
		{name: "busy, a call", status: 503, after: func() string { return "3" }, method: "tools/call", deadline: time.Minute},
		{name: "no deadline, too long", status: 429, after: func() string { return "3600" }, method: "ping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				rt := roundTripFunc(func(*http.Request) *httptest.ResponseRecorder {
					w := httptest.NewRecorder()
					if tries++; tries == 1 {
						w.Header().Set("Retry-After", tt.after())
						w.WriteHeader(tt.status)
						return w
					}
					answerJSON(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
					return w
				})
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt})
				defer l.Close()
				start := time.Now()
				_, err := l.Call(ctx, &mcp.Request{Method: tt.method})
				if tt.ok != (err == nil) {
					t.Errorf("got %v", err)
				}
				if got := time.Since(start).Round(100 * time.Millisecond); got != tt.want {
					t.Errorf("took %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestHTTPRetryAfterGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		rt := roundTripFunc(func(*http.Request) *httptest.ResponseRecorder {
			tries++
			w := httptest.NewRecorder()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return w
		})
		l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt})
		defer l.Close()
		_, err := l.Call(t.Context(), &mcp.Request{Method: "ping"})
		if e := mustBeLinkError(t, err); e.Status != http.StatusTooManyRequests || tries != 5 {
			t.Errorf("got %v after %d tries", err, tries)
		}
	})
}

func TestHTTPRedirects(t *testing.T) {
	t.Parallel()
	type seen struct{ auth, key, cookie, body string }
	got := make(chan seen, 10)
	final := func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		got <- seen{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie"), p.method}
		answerJSON(w, responseTo(p, `{}`))
	}
	other := startServer(t, final)
	first := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/other":
			http.Redirect(w, r, other, http.StatusPermanentRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusTemporaryRedirect)
		default:
			final(w, r, p)
		}
	})
	opts := &mcp.HTTPOptions{Header: func() http.Header {
		return http.Header{"Authorization": {"Bearer t"}, "X-Key": {"k"}, "Cookie": {"c=1"}}
	}}
	call := func(path string) error {
		_, err := dialHTTP(t, first+path, nil, opts).Call(t.Context(), &mcp.Request{Method: "tools/call"})
		return err
	}
	if err := call("/same"); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != (seen{"Bearer t", "k", "c=1", "tools/call"}) {
		t.Errorf("same origin got %+v", s)
	}
	for _, path := range []string{"/other", "/loop", "/file"} {
		if e := mustBeLinkError(t, call(path)); !strings.Contains(e.Error(), "redirect") {
			t.Errorf("%s: got %v", path, e)
		}
	}
	if len(got) != 0 {
		t.Errorf("another origin got %+v", <-got)
	}
}

// After a redirect to https on the same host, the request is sent without the user's headers.
func TestHTTPRedirectToTLS(t *testing.T) {
	t.Parallel()
	var asked []string
	rt := roundTripFunc(func(r *http.Request) *httptest.ResponseRecorder {
		asked = append(asked, r.URL.String()+" "+r.Header.Get("X-Key"))
		w := httptest.NewRecorder()
		if r.URL.Scheme == "http" {
			w.Header().Set("Location", "https://tools.example/mcp")
			w.WriteHeader(http.StatusPermanentRedirect)
			return w
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		return w
	})
	opts := &mcp.HTTPOptions{Transport: rt, Header: func() http.Header { return http.Header{"X-Key": {"k"}} }}
	if _, err := dialHTTP(t, "http://tools.example/mcp", nil, opts).Call(t.Context(), &mcp.Request{Method: "ping"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http://tools.example/mcp k", "https://tools.example/mcp "}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// A public server must not redirect us into a private network or away from TLS.
func TestHTTPRedirectsRefused(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"http://93.184.215.14/":  "http://127.0.0.1/",
		"http://93.184.215.15/":  "http://169.254.169.254/latest",
		"http://93.184.215.16/":  "http://[::ffff:10.0.0.1]/",
		"http://93.184.215.17/":  "http://93.184.215.18/",
		"http://93.184.215.19/":  "https://93.184.215.20/",
		"https://93.184.215.14/": "http://93.184.215.14/",
	} {
		rt := roundTripFunc(func(r *http.Request) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			if u, _ := url.Parse(from); r.URL.Host != u.Host || r.URL.Scheme != u.Scheme {
				t.Errorf("%s was asked", r.URL)
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return w
		})
		_, err := dialHTTP(t, from, nil, &mcp.HTTPOptions{Transport: rt}).Call(t.Context(), &mcp.Request{Method: "ping"})
		if e := mustBeLinkError(t, err); !strings.Contains(e.Error(), "refused") {
			t.Errorf("%s to %s: got %v", from, to, e)
		}
	}
}

// The user part of a URL becomes an Authorization header and appears nowhere else.
func TestHTTPUserInfo(t *testing.T) {
	t.Parallel()
	rt := roundTripFunc(func(r *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		if user, password, _ := r.BasicAuth(); user != "u" || password != "p" || r.URL.User != nil {
			t.Errorf("got %s with %v", r.URL, r.Header)
		}
		answerJSON(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		return w
	})
	if _, err := dialHTTP(t, "http://u:p@example.com", nil, &mcp.HTTPOptions{Transport: rt}).Call(t.Context(), &mcp.Request{Method: "ping"}); err != nil {
		t.Error(err)
	}
}
