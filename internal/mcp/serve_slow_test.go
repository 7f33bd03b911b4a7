package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/mcp"
	"collie/test/await"
)

// sizedService is a Service that answers with a text of the requested length. On request it sends a log message
// first, which makes the answer a stream.
type sizedService struct{}

func (sizedService) Hello(context.Context, *mcp.Peer) mcp.Hello {
	return mcp.Hello{Info: json.RawMessage("{}"), Capabilities: json.RawMessage("{}")}
}

func (sizedService) Handle(_ context.Context, r *mcp.Incoming) (json.RawMessage, error) {
	var args struct {
		Size   int
		Stream bool
	}
	if err := json.Unmarshal(r.Params, &args); err != nil {
		return nil, err
	}
	if args.Stream {
		r.Notify("notifications/message", json.RawMessage(`{"level":"info","data":"first"}`))
	}
	return json.RawMessage(`{"resultType":"complete","t":"` + strings.Repeat("x", args.Size) + `"}`), nil
}
func (sizedService) Notified(*mcp.Peer, mcp.Message) {}
func (sizedService) Opened(*mcp.Peer)                {}
func (sizedService) Closed(*mcp.Peer)                {}

// lockedBuffer is a buffer that several goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *lockedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *lockedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newSizedFixture starts a server whose Service is a sizedService (so the field service stays nil), and returns it
// with its log.
func newSizedFixture(t *testing.T, opts mcp.HTTPServerOptions) (*httpFixture, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	opts.Logger = slog.New(slog.NewTextHandler(log, nil))
	h := mcp.NewHTTPServer(sizedService{}, &opts)
	web := httptest.NewServer(h)
	s := &httpFixture{t: t, server: h, url: web.URL, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		web.CloseClientConnections() // ends clients that are still reading streams
		web.Close()
		_ = h.Close()
	})
	return s, log
}

// If a client does not read its answer, JSON or stream, its connection is closed after a while and a log line
// says so. A stream can then be resumed.
func TestServeHTTPClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than socket buffers hold
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream_%t", streamed), func(t *testing.T) {
			t.Parallel()
			s, log := newSizedFixture(t, mcp.HTTPServerOptions{Stall: 2 * time.Second}) // longer than a busy machine delays a reader
			id := s.openSession("2025-11-25")
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			body := rpcRequest(1, "x", fmt.Sprintf(`{"size":%d,"stream":%t}`, size, streamed))
			if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
				"Mcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the connection is given up", func() bool {
				if r := s.exchange("POST", rpcRequest(2, "x", `{"size":10}`), "Mcp-Session-Id", id); r.status != 200 {
					t.Fatalf("the next request: %d %s", r.status, r.body)
				}
				return strings.Contains(log.String(), "does not read")
			})
			raw, err := io.ReadAll(conn)
			if len(raw) >= size {
				t.Errorf("%d bytes came, %v", len(raw), err)
			}
			if !streamed {
				return
			}
			_, rest, _ := strings.Cut(string(raw), "id: ")
			last, _, _ := strings.Cut(rest, "\n")
			last = strings.TrimSpace(last)
			var said []string // on a very busy machine this reader stalls too, and the stream is resumed again
			await.Until(t, "the rest comes", func() bool {
				more, at := s.readEvents(s.send(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", last), -1, "")
				said = append(said, more...)
				if at != "" {
					last = at
				}
				return len(said) >= 2
			})
			if len(said) != 2 || said[1] != "1" {
				t.Errorf("resumed with %q", said)
			}
		})
	}
}

// A client that comes back for events that are no longer kept gets an error.
func TestServeHTTPResumesWhatIsKept(t *testing.T) {
	t.Parallel()
	s, _ := newSizedFixture(t, mcp.HTTPServerOptions{Kept: 3 << 20})
	id := s.openSession("2025-11-25")
	var lasts []string
	for n := range 4 {
		resp := s.send(t.Context(), http.MethodPost, rpcRequest(n+1, "x", `{"size":1000000,"stream":true}`), "Mcp-Session-Id", id)
		_, last := s.readEvents(resp, -1, "")
		name, _, _ := strings.Cut(last, "_")
		lasts = append(lasts, name+"_1")
	}
	for n, last := range lasts {
		resp := s.send(t.Context(), http.MethodGet, "", "Mcp-Session-Id", id, "Last-Event-ID", last)
		if n == 0 {
			raw, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound || !strings.Contains(string(raw), "not kept any more") || err != nil {
				t.Errorf("a stream that was dropped: %d %s", resp.StatusCode, raw)
			}
			continue
		}
		if said, _ := s.readEvents(resp, -1, ""); len(said) != 1 || said[0] != fmt.Sprint(n+1) {
			t.Errorf("stream %d resumed with %q", n, said)
		}
	}
}
