package httpserver_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"collie/internal/face/httpserver"
	"collie/internal/tool"
)

// Forwarding headers count only if they come from a trusted proxy, and X-Forwarded-Proto only for the host of PublicURL.
func TestProxies(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := httpserver.KeyFrom(r.Context())
		_, _ = io.WriteString(w, strings.TrimSuffix(r.RemoteAddr, ":0")+" "+map[bool]string{true: "tls", false: "plain"}[r.TLS != nil]+" "+string(key.Origin))
	})
	trusting := httpserver.Options{PublicURL: "https://notes.example", TrustedProxies: []string{"127.0.0.0/8", "10.1.1.1"}}
	for name, c := range map[string]struct {
		opts       httpserver.Options
		host       string
		proto, via []string
		want       string // how the answer ends
	}{
		"no proxy":                {trusting, "", nil, nil, "plain mcp-local"},
		"through the proxy":       {trusting, "notes.example", []string{"https"}, []string{"203.0.113.7"}, "203.0.113.7 tls mcp-remote"},
		"two proxies":             {trusting, "notes.example", []string{"https"}, []string{"198.51.100.1, 203.0.113.7", "10.1.1.1"}, "203.0.113.7 tls mcp-remote"},
		"forged by the client":    {trusting, "notes.example", []string{"https"}, []string{"127.0.0.1, 203.0.113.7"}, "203.0.113.7 tls mcp-remote"},
		"all are proxies":         {trusting, "notes.example", []string{"https"}, []string{"127.0.0.9"}, "127.0.0.9 tls mcp-remote"},
		"not over TLS":            {trusting, "notes.example", []string{"http"}, []string{"203.0.113.7"}, "203.0.113.7 plain mcp-remote"},
		"two words on TLS":        {trusting, "notes.example", []string{"https", "http"}, []string{"203.0.113.7"}, "203.0.113.7 plain mcp-remote"},
		"it does not say of whom": {trusting, "notes.example", []string{"https"}, nil, "plain mcp-remote"},
		"nonsense":                {trusting, "notes.example", []string{"https"}, []string{"203.0.113.7, who"}, "plain mcp-remote"},
		"another name":            {trusting, "", []string{"https"}, []string{"203.0.113.7"}, "203.0.113.7 plain mcp-remote"},
		"not trusted": {
			httpserver.Options{PublicURL: "https://notes.example", TrustedProxies: []string{"10.0.0.0/8"}}, "notes.example", []string{"https"}, []string{"203.0.113.7"}, "plain mcp-remote",
		},
		"no proxy is named": {httpserver.Options{PublicURL: "https://notes.example"}, "notes.example", []string{"https"}, []string{"203.0.113.7"}, "plain mcp-remote"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, c.opts, answer)
			a := s.do(t, "GET", "/mcp", func(r *http.Request) {
				if c.host != "" {
					r.Host = c.host
				}
				r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-For"] = c.proto, c.via
			})
			if a.status != http.StatusOK || !strings.HasSuffix(a.body, c.want) {
				t.Errorf("%d %q, want …%q", a.status, a.body, c.want)
			}
		})
	}
}

// If the proxy reports TLS, an Origin with http:// and the public name is refused.
func TestPlainOriginBehindTLS(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{PublicURL: "https://notes.example", TrustedProxies: []string{"127.0.0.0/8"}}, nil)
	for _, c := range []struct {
		proto, origin string
		want          int
	}{
		{"https", "https://notes.example", http.StatusOK},
		{"https", "http://notes.example", http.StatusForbidden},
		{"http", "http://notes.example", http.StatusOK}, // a proxy without TLS, in a private network
	} {
		a := s.do(t, "POST", "/mcp", func(r *http.Request) {
			r.Host = "notes.example"
			r.Header.Set("Origin", c.origin)
			r.Header.Set("X-Forwarded-Proto", c.proto)
			r.Header.Set("X-Forwarded-For", "203.0.113.7")
		})
		if a.status != c.want {
			t.Errorf("%s over %s: status %d, want %d", c.origin, c.proto, a.status, c.want)
		}
	}
}

// The host of PublicURL is an accepted Host and Origin.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{PublicURL: "https://notes.example:8443"}, nil)
	for host, want := range map[string]int{"notes.example:8443": 200, "notes.example:1": 403, "evil.example": 403} {
		a := s.do(t, "POST", "/mcp", func(r *http.Request) {
			r.Host = host
			r.Header.Set("Origin", "https://"+host)
		})
		if a.status != want {
			t.Errorf("%s: %d, want %d: %s", host, a.status, want, a.body)
		}
	}
	for _, bad := range []httpserver.Options{
		{PublicURL: "http://notes.example"},
		{PublicURL: "https://"},
		{PublicURL: "notes.example"},
		{PublicURL: "https://notes.example/pages"},
		{PublicURL: "https://me@notes.example"},
		{PublicURL: "https://notes.example?x"},
		{TrustedProxies: []string{"proxy.example"}},
		{TrustedProxies: []string{"10.0.0.0/64"}},
	} {
		bad.Addr, bad.Keys = "127.0.0.1:0", []httpserver.Key{{Name: "token", Secret: secret}}
		s, err := httpserver.Open(t.Context(), bad)
		if err == nil {
			_ = s.Close()
		}
		if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Invalid || e.Hint == "" {
			t.Errorf("%q %q: %v", bad.PublicURL, bad.TrustedProxies, err)
		}
	}
}
