package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"collie/internal/face/web"
	"collie/internal/tool"
)

// cache is a tool cache with two servers.
type cache struct {
	full   error
	erased []string
	all    bool
}

func (c *cache) Clear(names ...string) []string {
	c.all = len(names) == 0
	c.erased = nil
	for _, name := range []string{"a", "列车"} {
		if c.all || slices.Contains(names, name) {
			c.erased = append(c.erased, name)
		}
	}
	return c.erased
}

func (c *cache) Flush(context.Context) error { return c.full }

func TestClearCache(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path, body, key string
		full                  error
		status                int
		has                   string
		erased                []string
	}{
		{"One", "/clear", `{"servers":["列车","none"]}`, "control", nil, 200, `{"removed":["列车"]}`, []string{"列车"}},
		{"All", "/clear", `{"servers":[]}`, "control", nil, 200, `{"removed":["a","列车"]}`, []string{"a", "列车"}},
		{"Nothing", "/clear", `{"servers":["none"]}`, "control", nil, 200, `{"removed":[]}`, nil},
		// A body without "servers" is an error and does not delete everything.
		{"NoNames", "/clear", `{}`, "control", nil, 400, "the body is not what is expected", nil},
		{"NoJSON", "/clear", `[`, "control", nil, 400, "the body is not what is expected", nil},
		{"NotWritten", "/clear", `{"servers":["a"]}`, "control", &tool.Error{Kind: tool.Unavailable, Message: "read-only"}, 502, "read-only", []string{"a"}},
		{"Foreign", "/clear", `{"servers":[]}`, "token", nil, 403, "permission_denied", nil},
		{"Flush", "/flush", `{}`, "control", nil, 200, "{}", nil},
		{"FlushFails", "/flush", `{}`, "control", &tool.Error{Kind: tool.Unavailable, Message: "disk full"}, 502, "disk full", nil},
		{"ForeignFlush", "/flush", `{}`, "token", nil, 403, "permission_denied", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &cache{full: tt.full}
			h := web.New(web.Options{Cache: c, Identify: func(r *http.Request) web.Identity {
				return web.Identity{Manage: r.Header.Get("Authorization") == "control"}
			}})
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/toolcache"+tt.path, strings.NewReader(tt.body))
			req.Header.Set("Authorization", tt.key)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) {
				t.Errorf("HTTP %d %s, want %d with %s", w.Code, w.Body, tt.status, tt.has)
			}
			if !slices.Equal(c.erased, tt.erased) {
				t.Errorf("erased %q, want %q", c.erased, tt.erased)
			}
		})
	}
}

// Gateways of earlier versions, which shared lists over HTTP, get an error that names the replacement.
func TestListsAreNotShared(t *testing.T) {
	t.Parallel()
	h := web.New(web.Options{Identify: func(*http.Request) web.Identity { return web.Identity{} }})
	for _, ask := range []string{
		"GET /api/v1/toolcache", "PATCH /api/v1/toolcache", "GET /api/v1/toolcache/events", "POST /api/v1/toolcache/leases/a",
	} {
		method, path, _ := strings.Cut(ask, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}")))
		if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "nats://") || !strings.Contains(w.Body.String(), "collie cache import") {
			t.Errorf("%s: HTTP %d %s", ask, w.Code, w.Body)
		}
	}
}
