package httpserver_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"collie/internal/face/httpserver"
)

func portOf(t *testing.T, s *running) string {
	t.Helper()
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func TestHost(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{AllowedHosts: []string{"notes.example", "proxy.example:8443", "[fd00::1]"}}, nil)
	port := portOf(t, s)
	for host, want := range map[string]int{
		"127.0.0.1:" + port:          200,
		"127.0.0.1":                  200,
		"localhost:" + port:          200,
		"LocalHost":                  200,
		"[::1]:" + port:              200,
		"[::1]":                      200,
		"[0:0:0:0:0:0:0:1]":          200,
		"[fd00::1]:" + port:          200,
		"notes.example":              200,
		"NOTES.example:" + port:      200,
		"proxy.example:8443":         200,
		"proxy.example":              200,
		"proxy.example:" + port:      403,
		"notes.example:8443":         403,
		"evil.example":               403,
		"evil.example:" + port:       403,
		"127.0.0.1:1":                403,
		"localhost:1":                403,
		"[::1]:1":                    403,
		"[::2]:" + port:              403,
		"localhost.evil.example":     403,
		"localhost.":                 403,
		"127.0.0.1.nip.example":      403,
		"127.0.0.2":                  403,
		"127.1":                      403,
		"0.0.0.0:" + port:            403,
		"[::ffff:127.0.0.1]:" + port: 403,
		"sub.notes.example":          403,
		"localhost:0" + port:         403,
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/mcp", "/healthz"} {
				a := s.do(t, "GET", path, func(r *http.Request) { r.Host = host })
				if a.status != want {
					t.Errorf("%s: status %d, want %d", path, a.status, want)
				}
				if want == 403 && (a.fault.Type != "forbidden_host" || a.fault.Hint == "" || !strings.Contains(a.fault.Message, strconv.Quote(host))) {
					t.Errorf("%s: fault %+v", path, a.fault)
				}
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{
		AllowedHosts:   []string{"notes.example"},
		AllowedOrigins: []string{"app.example", "https://exact.example", "http://dev.example:3000", "chrome-extension://abcdef"},
	}, nil)
	self := s.URL()
	type want struct {
		status int
		cors   bool
	}
	for origin, want := range map[string]want{
		"":                                     {200, false},
		self:                                   {200, false},
		"http://localhost":                     {200, false},
		"http://localhost:6274":                {200, false},
		"https://127.0.0.1:1":                  {200, false},
		"http://[::1]:9":                       {200, false},
		"https://app.example":                  {200, true},
		"http://app.example:81":                {200, true},
		"https://exact.example":                {200, true},
		"https://exact.example:443":            {200, true},
		"http://dev.example:3000":              {200, true},
		"chrome-extension://abcdef":            {200, true},
		"null":                                 {403, false},
		"file://":                              {403, false},
		"http://evil.example":                  {403, false},
		"http://exact.example":                 {403, false},
		"https://exact.example:8443":           {403, false},
		"http://dev.example:3001":              {403, false},
		"http://dev.example":                   {403, false},
		"chrome-extension://other":             {403, false},
		"chrome-extension://localhost":         {403, false},
		"http://localhost.evil.example":        {403, false},
		"http://evil.example/http://localhost": {403, false},
		"http://user@localhost":                {403, false},
		"localhost":                            {403, false},
		"http://notes.example":                 {403, false}, // differs from the Host, which is 127.0.0.1
	} {
		t.Run(origin, func(t *testing.T) {
			t.Parallel()
			a := s.do(t, "POST", "/mcp", func(r *http.Request) {
				if origin != "" {
					r.Header.Set("Origin", origin)
				}
			})
			if a.status != want.status {
				t.Fatalf("status %d, want %d: %s", a.status, want.status, a.body)
			}
			if want.status == 403 && (a.fault.Type != "forbidden_origin" || a.fault.Hint == "") {
				t.Errorf("fault %+v", a.fault)
			}
			shared := ""
			if want.cors {
				shared = origin
				if !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
					t.Error("the session id is not exposed")
				}
			}
			if got := a.header.Get("Access-Control-Allow-Origin"); got != shared {
				t.Errorf("Allow-Origin %q, want %q", got, shared)
			}
			if origin != "" && a.header.Get("Vary") != "Origin" {
				t.Errorf("Vary %q", a.header.Get("Vary"))
			}
		})
	}
	t.Run("two values", func(t *testing.T) {
		t.Parallel()
		a := s.do(t, "POST", "/mcp", func(r *http.Request) {
			r.Header["Origin"] = []string{self, "http://evil.example"}
		})
		if a.status != 403 {
			t.Errorf("status %d", a.status)
		}
	})
	t.Run("same origin by a listed name", func(t *testing.T) {
		t.Parallel()
		a := s.do(t, "POST", "/mcp", func(r *http.Request) {
			r.Host = "notes.example"
			r.Header.Set("Origin", "https://notes.example")
		})
		if a.status != 200 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
	})
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{AllowedOrigins: []string{"https://app.example"}}, nil)
	asPreflight := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,mcp-param-query, x-evil")
		}
	}
	a := s.do(t, "OPTIONS", "/mcp", asPreflight("https://app.example"))
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("listed: %d %v", a.status, a.header)
	}
	allowed := strings.ToLower(a.header.Get("Access-Control-Allow-Headers"))
	for _, name := range []string{"authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id", "mcp-param-query"} {
		if !strings.Contains(allowed, name) {
			t.Errorf("header %s is not allowed", name)
		}
	}
	if strings.Contains(allowed, "evil") || a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("too much is allowed: %v", a.header)
	}
	if methods := a.header.Get("Access-Control-Allow-Methods"); !strings.Contains(methods, "DELETE") {
		t.Errorf("methods %q", methods)
	}
	for _, origin := range []string{"http://localhost:3000", "https://evil.example", s.URL()} {
		a := s.do(t, "OPTIONS", "/mcp", asPreflight(origin))
		if a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, a.status, a.header)
		}
	}
	if a := s.do(t, "OPTIONS", "/mcp", func(r *http.Request) { r.Header.Del("Authorization") }); a.status != 401 {
		t.Errorf("OPTIONS that is not a preflight: status %d", a.status)
	}
	// A web page must be able to read why it was refused.
	a = s.do(t, "POST", "/mcp", func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Origin", "https://app.example")
	})
	if a.status != 401 || a.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("401 of a listed origin: %d %v", a.status, a.header)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{}, nil)
	withAuthorization := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	for name, tc := range map[string]struct {
		path, challenge string
		edit            func(*http.Request)
	}{
		"none":           {"/mcp", `Bearer realm="collie"`, withAuthorization()},
		"in the query":   {"/mcp?token=" + secret[:5], `Bearer realm="collie"`, withAuthorization()},
		"wrong":          {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer wrong")},
		"prefix":         {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer " + secret[:10])},
		"longer":         {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer " + secret + "x")},
		"very long":      {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer " + strings.Repeat("x", 5000))},
		"basic":          {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Basic " + secret)},
		"no scheme":      {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization(secret)},
		"empty":          {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer ")},
		"twice":          {"/mcp", `Bearer realm="collie", error="invalid_token"`, withAuthorization("Bearer "+secret, "Bearer "+secret)},
		"near a page":    {"/healthz/", `Bearer realm="collie"`, withAuthorization()},
		"dots to a page": {"/mcp/../healthz", `Bearer realm="collie"`, withAuthorization()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.do(t, "POST", tc.path, tc.edit)
			if a.status != 401 || a.header.Get("WWW-Authenticate") != tc.challenge || a.fault.Type != "unauthorized" {
				t.Errorf("%d %q %+v", a.status, a.header.Get("WWW-Authenticate"), a.fault)
			}
			if !strings.Contains(a.fault.Hint, "collie config path --all") || strings.Contains(a.fault.Hint, "/") {
				t.Errorf("hint %q, want the command that says where the token is, and no path", a.fault.Hint)
			}
		})
	}
	t.Run("the command is for local callers", func(t *testing.T) {
		t.Parallel()
		a := s.do(t, "POST", "/mcp", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("X-Forwarded-For", "192.0.2.1")
		})
		if a.status != 401 || strings.Contains(a.body, "state folder") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestGuessing(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{}, nil)
	wrong := func(r *http.Request) { r.Header.Set("Authorization", "Bearer wrong") }
	for i := range 20 {
		if a := s.do(t, "POST", "/mcp", wrong); a.status != 401 {
			t.Fatalf("guess %d: status %d", i, a.status)
		}
	}
	a := s.do(t, "POST", "/mcp", wrong)
	if n, err := strconv.Atoi(a.header.Get("Retry-After")); a.status != 429 || a.fault.Type != "rate_limited" || err != nil || n < 1 || n > 3 {
		t.Errorf("%d %+v, Retry-After %q", a.status, a.fault, a.header.Get("Retry-After"))
	}
	if a := s.do(t, "POST", "/mcp", nil); a.status != 200 {
		t.Errorf("the right token on loopback: status %d", a.status)
	}
	if a := s.do(t, "GET", "/healthz", wrong); a.status != 200 {
		t.Errorf("health: status %d", a.status)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{MaxBody: 1000}, nil)
	body := func(n int, chunked, right bool) func(*http.Request) {
		return func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", n)))
			if r.ContentLength = int64(n); chunked {
				r.ContentLength = -1
			}
			if !right {
				r.Header.Del("Authorization")
			}
		}
	}
	for name, tc := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"fits":                {body(1000, false, true), 200},
		"fits, chunked":       {body(1000, true, true), 200},
		"too large":           {body(1001, false, true), 413},
		"too large, chunked":  {body(1001, true, true), 413},
		"too large, no token": {body(1001, false, false), 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.do(t, "POST", "/mcp", tc.edit)
			if a.status != tc.want {
				t.Errorf("status %d, want %d", a.status, tc.want)
			}
			if name == "too large" && (a.fault.Type != "request_too_large" || !strings.Contains(a.fault.Message, "1000")) {
				t.Errorf("fault %+v", a.fault)
			}
		})
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{Routes: []string{"/mcp", "/api/v1/"}}, nil)
	for path, want := range map[string]int{
		"/mcp": 200, "/api/v1/mcp/servers": 200, "/mcp?profile=x": 200, "/healthz": 200,
		"/": 404, "/mcp/": 404, "/api": 404, "/.well-known/oauth-protected-resource": 404, "/mcpx": 404,
	} {
		a := s.do(t, "GET", path, nil)
		if a.status != want || want == 404 && a.fault.Type != "not_found" {
			t.Errorf("%s: %d %+v, want %d", path, a.status, a.fault, want)
		}
	}
	long := "/a" + strings.Repeat("长", 300)
	a := s.do(t, "GET", (&url.URL{Path: long}).String(), nil)
	if want := `"/a` + strings.Repeat("长", 198) + `…"`; !strings.Contains(a.fault.Message, want) {
		t.Errorf("a long path: %s, want %s", a.fault.Message, want)
	}
	// An unknown path gets no challenge, which would send a client looking for OAuth.
	a = s.do(t, "GET", "/.well-known/oauth-protected-resource", func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Host = "evil.example"
	})
	if a.status != 404 {
		t.Errorf("status %d", a.status)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	ok := make(chan bool, 1)
	s := startServer(t, httpserver.Options{Version: "1.2.3", Ready: func() (bool, any) {
		return <-ok, map[string]int{"servers": 3}
	}}, nil)
	plain := startServer(t, httpserver.Options{}, nil)
	withoutToken := func(r *http.Request) { r.Header.Del("Authorization") }
	if a := s.do(t, "GET", "/healthz", withoutToken); a.status != 200 || a.body != `{"status":"ok","version":"1.2.3"}` {
		t.Errorf("healthz: %d %s", a.status, a.body)
	}
	ok <- true
	if a := s.do(t, "GET", "/readyz", withoutToken); a.status != 200 || a.body != `{"status":"ready","detail":{"servers":3}}` {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
	ok <- false
	if a := s.do(t, "GET", "/readyz", withoutToken); a.status != 503 || a.body != `{"status":"starting","detail":{"servers":3}}` {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
	if a := plain.do(t, "HEAD", "/readyz", withoutToken); a.status != 200 || a.body != "" {
		t.Errorf("readyz without a question to ask: %d %s", a.status, a.body)
	}
	if a := s.do(t, "POST", "/healthz", withoutToken); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", a.status)
	}
}

func TestOptionsStarIsChecked(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{}, nil)
	a := s.do(t, "OPTIONS", "", func(r *http.Request) {
		r.URL.Opaque = "*"
		r.Host = "evil.example"
	})
	if a.status != 403 {
		t.Errorf("status %d", a.status)
	}
}
