package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/mcp"
)

func TestSSEWithSDK(t *testing.T) {
	t.Parallel()
	server := sdkServer()
	url := startSDK(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	h := newHeard()
	h.answer = func(context.Context, mcp.Message, any) (json.RawMessage, error) {
		return json.RawMessage(`{"roots":[{"uri":"file:///root"}]}`), nil
	}
	l, err := mcp.DialSSE(t.Context(), url, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, l)
	if got := callTool(t, l, `{"name":"notes","_meta":{"progressToken":"p"}}`); got != "noted" {
		t.Errorf("got %q", got)
	}
	h.wait(t, "notifications/progress <nil>")
	if got := callTool(t, l, `{"name":"ask"}`); got != "file:///root" {
		t.Errorf("asked back and got %q", got)
	}
	if got := callTool(t, l, `{"name":"big","arguments":{"bytes":2097152}}`); len(got) != 2<<20 {
		t.Errorf("big result of %d bytes", len(got))
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	<-l.Done()
}

// The end of the stream ends the link.
func TestSSEStreamEnds(t *testing.T) {
	t.Parallel()
	posted := make(chan struct{})
	url := serveFunc(t, func(w http.ResponseWriter, r *http.Request, _ post) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			close(posted)
			return
		}
		stream(w, "event: endpoint\ndata: ?s=1\n\n")
		<-posted
	})
	l, err := mcp.DialSSE(t.Context(), url, newHeard(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); !linkError(t, err).Sent {
		t.Errorf("got %v", err)
	}
	<-l.Done()
}

func TestSSEEndpoint(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, endpoint string
		ok             bool
	}{
		{"path", "/messages?s=1", true},
		{"relative", "messages", true},
		{"same origin", "http://example.com:80/m", true},
		{"other host", "http://example.org/m", false},
		{"other port", "http://example.com:81/m", false},
		{"other scheme", "https://example.com/m", false},
		{"no host", "//evil.example/m", false},
		{"no URL", "http://[::", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := roundTrip(func(*http.Request) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				stream(w, "event: endpoint\ndata: "+tt.endpoint+"\n\n")
				return w
			})
			l, err := mcp.DialSSE(t.Context(), "http://example.com/sse", newHeard(), &mcp.HTTPOptions{Transport: rt})
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
			if err != nil {
				_ = linkError(t, err)
				return
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSSERefused(t *testing.T) {
	t.Parallel()
	url := serveFunc(t, func(w http.ResponseWriter, _ *http.Request, _ post) { http.Error(w, "no", http.StatusNotFound) })
	_, err := mcp.DialSSE(t.Context(), url, newHeard(), nil)
	if e := linkError(t, err); e.Status != http.StatusNotFound || e.Body != "no\n" {
		t.Errorf("got %+v", e)
	}
	url = serveFunc(t, func(w http.ResponseWriter, _ *http.Request, _ post) { answerJSON(w, `{}`) })
	_, err = mcp.DialSSE(t.Context(), url, newHeard(), nil)
	if e := linkError(t, err); !strings.Contains(e.Error(), "200") {
		t.Errorf("got %+v", e)
	}
}

// silentStream is an event stream that opens and sends nothing until it is closed.
type silentStream struct{}

func (silentStream) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: http.StatusOK, Body: pr, ContentLength: -1,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

func TestSSENoEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := mcp.DialSSE(t.Context(), "http://example.com", newHeard(), &mcp.HTTPOptions{Transport: silentStream{}})
		if e := linkError(t, err); time.Since(start) != 10*time.Second || !strings.Contains(e.Error(), "endpoint") {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mcp.DialSSE(ctx, "http://example.com", newHeard(), &mcp.HTTPOptions{Transport: silentStream{}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
