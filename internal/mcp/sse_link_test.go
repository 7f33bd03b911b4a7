package mcp_test

import (
	"cmp"
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
	server := newSDKServer()
	url := startHandler(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	h := newHandlerLog()
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
	h.waitFor(t, "notifications/progress <nil>")
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
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, _ receivedRequest) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			close(posted)
			return
		}
		writeEvents(w, "event: endpoint\ndata: ?s=1\n\n")
		<-posted
	})
	l, err := mcp.DialSSE(t.Context(), url, newHandlerLog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); !mustBeLinkError(t, err).Sent {
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
		{name: "path", endpoint: "/messages?s=1", ok: true},
		{name: "relative", endpoint: "messages", ok: true},
		{name: "same origin", endpoint: "http://example.com:80/m", ok: true},
		{name: "other host", endpoint: "http://example.org/m"},
		{name: "other port", endpoint: "http://example.com:81/m"},
		{name: "other scheme", endpoint: "https://example.com/m"},
		{name: "no host", endpoint: "//evil.example/m"},
		{name: "no URL", endpoint: "http://[::"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := roundTripFunc(func(*http.Request) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				writeEvents(w, "event: endpoint\ndata: "+tt.endpoint+"\n\n")
				return w
			})
			l, err := mcp.DialSSE(t.Context(), "http://example.com/sse", newHandlerLog(), &mcp.HTTPOptions{Transport: rt})
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
			if err != nil {
				_ = mustBeLinkError(t, err)
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
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, _ receivedRequest) {
		http.Error(w, "no", http.StatusNotFound)
	})
	_, err := mcp.DialSSE(t.Context(), url, newHandlerLog(), nil)
	if e := mustBeLinkError(t, err); e.Status != http.StatusNotFound || e.Body != "no\n" {
		t.Errorf("got %+v", e)
	}
	url = startServer(t, func(w http.ResponseWriter, _ *http.Request, _ receivedRequest) { answerJSON(w, `{}`) })
	_, err = mcp.DialSSE(t.Context(), url, newHandlerLog(), nil)
	if e := mustBeLinkError(t, err); !strings.Contains(e.Error(), "200") {
		t.Errorf("got %+v", e)
	}
}

// heldPosts is a server that answers a POST only when it has carried out the message, as those of the Java SDK do. A
// tools/call takes that long; refused, if set, is the status that it then answers instead of a response.
type heldPosts struct {
	takes   time.Duration
	refused int
	events  *io.PipeWriter
	told    chan string // other messages
}

func (h *heldPosts) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		pr, pw := io.Pipe()
		h.events = pw
		context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(r.Context().Err()) })
		go func() { _, _ = io.WriteString(pw, "event: endpoint\ndata: ?s=1\n\n") }()
		return &http.Response{
			StatusCode: http.StatusOK, Body: pr, ContentLength: -1,
			Header: http.Header{"Content-Type": {"text/event-stream"}},
		}, nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m, err := mcp.Parse(raw)
	if err != nil {
		return nil, err
	}
	status := http.StatusAccepted
	if m.Method != "tools/call" {
		h.told <- string(raw)
		return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}, nil
	}
	select {
	case <-time.After(h.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status = cmp.Or(h.refused, status); h.refused == 0 {
		_, _ = io.WriteString(h.events, "data: "+string(mcp.AppendResult(nil, m.ID, json.RawMessage(`{"done":1}`)))+"\n\n")
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}, nil
}

// A server may answer a POST only when the call is done: the call takes as long as its context allows, and ends with it.
func TestSSEPostAnsweredLate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		refused int
		timeout time.Duration
		want    time.Duration
	}{
		{name: "done", timeout: time.Minute, want: 15 * time.Second},
		{name: "refused", refused: http.StatusInternalServerError, timeout: time.Minute, want: 15 * time.Second},
		{name: "timeout", timeout: time.Second, want: time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &heldPosts{takes: 15 * time.Second, refused: tt.refused, told: make(chan string, 1)}
				l, err := mcp.DialSSE(t.Context(), "http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: server})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				begun := time.Now()
				got, err := l.Call(ctx, &mcp.Request{Method: "tools/call"})
				if took := time.Since(begun); took != tt.want {
					t.Errorf("the call took %v, want %v", took, tt.want)
				}
				switch {
				case tt.refused != 0:
					if e := mustBeLinkError(t, err); e.Status != tt.refused || !e.Sent {
						t.Errorf("got %+v", e)
					}
				case tt.want == tt.timeout:
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v", err)
					}
					synctest.Wait()
					if len(server.told) == 0 || !strings.Contains(<-server.told, "notifications/cancelled") {
						t.Error("the server was not told")
					}
				case err != nil || string(got.Result) != `{"done":1}`:
					t.Errorf("got %s, %v", got.Result, err)
				}
			})
		})
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
		_, err := mcp.DialSSE(t.Context(), "http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: silentStream{}})
		if e := mustBeLinkError(t, err); time.Since(start) != 10*time.Second || !strings.Contains(e.Error(), "endpoint") {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mcp.DialSSE(ctx, "http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: silentStream{}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
