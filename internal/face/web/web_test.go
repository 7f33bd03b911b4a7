package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"collie/internal/face/web"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// servers is a list with one server.
type servers struct{ web.Servers }

func (servers) List() []tool.ServerStatus {
	return []tool.ServerStatus{{Name: "s", State: tool.StateReady}}
}

func (servers) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	if name != "s" {
		return nil, &tool.Error{Op: "find server", Kind: tool.NotFound, Subject: name, Message: "no server of that name"}
	}
	return func(yield func(tool.LogLine, error) bool) {
		text := fmt.Sprint("<hello> ", f.Last, f.Streams, f.Since.Unix())
		if !yield(tool.LogLine{Stream: "stderr", Text: text}, nil) || !f.Follow {
			return
		}
		if !yield(tool.LogLine{Stream: "noise", Text: "你好"}, nil) {
			return
		}
		<-ctx.Done()
		yield(tool.LogLine{}, &tool.Error{Op: "read", Kind: tool.Internal, Message: "the end"})
	}, nil
}

func (servers) Await(context.Context, []string) error { return nil }

func newAPI(t *testing.T) (h http.Handler, fake *tooltest.Fake) {
	t.Helper()
	fake = tooltest.NewFake("s", tooltest.Offer("s",
		tooltest.Action("echo", `"properties":{"n":{"type":"integer"}}`), tooltest.Action("fail"), tooltest.Action("error"), tooltest.Action("down")))
	fake.On("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tooltest.Failed("no"), nil })
	fake.On("error", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.ProtocolError{Code: -5, Message: "own", Raw: json.RawMessage(`{"code":-5,"message":"<own>","x":1.0}`)}
	})
	fake.On("down", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Op: "start", Kind: tool.Unavailable, Message: "down"}
	})
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	catalog := source.New([]tool.Source{fake}, source.Options{})
	t.Cleanup(func() {
		catalog.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return web.New(web.Options{
		Pipeline: pipeline.New(catalog, pipeline.Options{Audit: log}), Servers: servers{}, Tools: catalog.Tools, Prompts: catalog.Prompts,
		Identify: func(r *http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.Direct, Manage: r.Header.Get("Authorization") == "control"}
		},
	}), fake
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	h, fake := newAPI(t)
	for _, tt := range []struct {
		name, method, path, key, media, body string
		status                               int
		want                                 string // a part of the answer, or all of it if it begins with {
	}{
		{"servers", "GET", "/api/v1/mcp/servers", "control", "", "", 200, `"name":"s"`},
		{"servers, not a manager", "GET", "/api/v1/mcp/servers", "", "", "", 403, "permission_denied"},
		{"logs", "GET", "/api/v1/mcp/servers/s/logs?lines=5&stream=a&stream=b&since=1970-01-01T00:00:07Z", "control", "", "", 200, `"text":"<hello> 5 [a b] 7"`},
		{"logs, wrong number", "GET", "/api/v1/mcp/servers/s/logs?lines=-1", "control", "", "", 400, `lines is \"-1\"`},
		{"logs, wrong time", "GET", "/api/v1/mcp/servers/s/logs?since=10m", "control", "", "", 400, `since is \"10m\"`},
		{"logs of nobody", "GET", "/api/v1/mcp/servers/x/logs", "control", "", "", 404, "not_found"},
		{"logs, not a manager", "GET", "/api/v1/mcp/servers/s/logs", "", "", "", 403, "permission_denied"},
		{"tools", "GET", "/api/v1/tools", "", "", "", 200, `"Name":"echo"`},
		{"list", "GET", "/api/v1/lists/prompts", "", "", "", 200, `{"prompts":[]}`},
		{"no such list", "GET", "/api/v1/lists/cats", "", "", "", 404, "not_found"},
		{"no such route", "GET", "/api/v1/cats", "", "", "", 404, `{"error":{"type":"not_found","message":"this API has no such path","subject":"/api/v1/cats","hint":"GET /api/v1/openapi.json lists the endpoints"}}`},
		{"no such method", "GET", "/api/v1/calls", "", "", "", 405, `"message":"the method is GET, expected POST"`},
		{"no method at all", "POST", "/api/v1/mcp/cats", "", "", "", 404, `"subject":"/api/v1/mcp/cats"`},

		{
			"call", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__echo","args":{"n":1.0}}`, 200,
			`{"isError":false,"result":{"content":[{"type":"text","text":"{\"n\":1.0}"}]}}`,
		},
		{"call, with charset", "POST", "/api/v1/calls", "", "application/json; charset=utf-8", `{"name":"s__echo"}`, 200, `"text":"{}"`},
		{"call, null arguments", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__echo","args":null}`, 200, `"text":"{}"`},
		{"call that fails", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__fail"}`, 200, `"isError":true`},
		{"protocol error", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__error"}`, 502, `{"protocolError":{"code":-5,"message":"<own>","x":1.0}}`},
		{"unavailable", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__down"}`, 502, "server_unavailable"},
		{"wrong arguments", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__echo","args":{"n":"x"}}`, 400, "validation_error"},
		{"arguments that are not an object", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__echo","args":[1]}`, 400, "validation_error"},
		{"unknown tool", "POST", "/api/v1/calls", "", "application/json", `{"name":"s__x"}`, 404, "not_found"},
		{"no name", "POST", "/api/v1/calls", "", "application/json", `{}`, 404, "not_found"},
		{"no JSON", "POST", "/api/v1/calls", "", "application/json", `{"name":`, 400, "validation_error"},
		{"a form", "POST", "/api/v1/calls", "", "application/x-www-form-urlencoded", `name=s__echo`, 400, "application/json"},
		{"no type", "POST", "/api/v1/calls", "", "", `{"name":"s__echo"}`, 400, "application/json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
			req.Header.Set("Authorization", tt.key)
			if tt.media != "" {
				req.Header.Set("Content-Type", tt.media)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			raw, err := io.ReadAll(w.Result().Body)
			got := strings.TrimSpace(string(raw))
			exact := strings.HasPrefix(tt.want, "{")
			if err != nil || w.Code != tt.status || exact && got != tt.want || !strings.Contains(got, tt.want) {
				t.Errorf("status %d, %s; want %d, %s", w.Code, got, tt.status, tt.want)
			}
			if !json.Valid(raw) {
				t.Errorf("no JSON: %s", raw)
			}
			if allow := w.Header().Get("Allow"); tt.status == http.StatusMethodNotAllowed && allow != "POST" {
				t.Errorf("allowed is %q", allow)
			}
		})
	}
	t.Cleanup(func() {
		for _, c := range fake.Calls() {
			if c.Origin != tool.Direct || c.Principal != "me" {
				t.Errorf("call of %s: origin %s, principal %q", c.Target, c.Origin, c.Principal)
			}
		}
	})
}

// Every route has a class and can be reached.
func TestRoutesAreClassed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range web.Routes() {
		if r.Class != web.ClassCall && r.Class != web.ClassRead && r.Class != web.ClassManage && r.Class != web.ClassChat || seen[r.Pattern] {
			t.Errorf("%q has class %q, or is there twice", r.Pattern, r.Class)
		}
		seen[r.Pattern] = true
	}
}
