// Package webtest serves the API of a gateway over real HTTP with a real pipeline, for tests of its clients.
package webtest

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"collie/internal/face/web"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
)

// Serve serves a source, and a server named git that is ready, until the test ends. It returns the URL and
// the control key.
func Serve(tb testing.TB, src tool.Source) (url, key string) {
	tb.Helper()
	log, err := audit.Open(tb.TempDir(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	cat := source.New([]tool.Source{src}, source.Options{})
	srv := httptest.NewServer(web.New(web.Options{
		Pipeline: pipeline.New(cat, pipeline.Options{Audit: log}),
		Servers:  readyServers{},
		Tools:    cat.Tools,
		Identify: func(r *http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.Direct, Manage: r.Header.Get("Authorization") == "Bearer key"}
		},
	}))
	tb.Cleanup(func() {
		srv.Close()
		cat.Close()
		if err := log.Close(); err != nil {
			tb.Error(err)
		}
	})
	return srv.URL, "key"
}

// readyServers is a list of servers that have all started.
type readyServers struct{ web.Servers }

func (readyServers) List() []tool.ServerStatus {
	return []tool.ServerStatus{{Name: "git", State: tool.StateReady}}
}

func (readyServers) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	if name != "git" {
		return nil, &tool.Error{Op: "find server", Kind: tool.NotFound, Subject: name, Message: "no server of that name"}
	}
	return func(yield func(tool.LogLine, error) bool) {
		text := fmt.Sprint("<hello> ", f.Last, f.Streams, f.Since.Unix())
		if !yield(tool.LogLine{Stream: "stderr", Text: text}, nil) || !f.Follow {
			return
		}
		if f.Last == 13 {
			yield(tool.LogLine{}, &tool.Error{Op: "read", Kind: tool.Internal, Message: "bad luck"})
			return
		}
		yield(tool.LogLine{Stream: "noise", Text: "你好"}, nil)
		<-ctx.Done()
	}, nil
}

func (readyServers) Await(context.Context, []string) error { return nil }
