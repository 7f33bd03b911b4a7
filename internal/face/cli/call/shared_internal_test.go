package call

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/remote"
	"collie/internal/face/web"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
)

// gateway serves a source behind a real pipeline and the real API, and returns the way to it.
func gateway(t *testing.T, src tool.Source) *remote.Client {
	t.Helper()
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cat := source.New([]tool.Source{src}, source.Options{})
	srv := httptest.NewServer(web.New(web.Options{
		Pipeline: pipeline.New(cat, pipeline.Options{Audit: log}),
		Servers:  started{},
		Tools:    cat.Tools,
		Identify: func(r *http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.Direct, Manage: r.Header.Get("Authorization") == "Bearer key"}
		},
	}))
	r := remote.New(&config.Config{}, home.Gateway{URL: srv.URL, Control: "key"}, nil)
	t.Cleanup(func() {
		r.Close()
		srv.Close()
		cat.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// started is servers that have all started.
type started struct{ web.Servers }

func (started) List() []tool.ServerStatus {
	return []tool.ServerStatus{{Name: "git", State: tool.StateReady}}
}

func (started) Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error) {
	if name != "git" {
		return nil, &tool.Error{Op: "find server", Kind: tool.Unknown, Subject: name, Message: "no server of that name"}
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

func (started) Await(context.Context, []string) error { return nil }

func call(name, args string, caller tool.Caller) *tool.Call {
	return &tool.Call{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args), Caller: caller}
}
