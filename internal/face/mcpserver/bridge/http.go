package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
)

// This file connects a client with a gateway in another process, over HTTP.

const (
	dialTime = 5 * time.Second
	// idleConns is how many idle connections are kept: as many as a busy client has requests in flight,
	// because connecting costs more than a call.
	idleConns = 256
	// idleTime is shorter than the gateway's limit, so that a request does not hit a connection that the
	// gateway is closing.
	idleTime = 90 * time.Second
	// maxAnswer is the maximum size of an answer: the largest message from a server plus what the gateway
	// adds.
	maxAnswer = mcp.DefaultMaxFrame + 64<<10
	// maxRefusal is how many bytes of an HTTP error's body are read.
	maxRefusal = 1 << 20
)

// The header fields of MCP over HTTP, in net/http's spelling.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerLastEvent = "Last-Event-Id"
)

// HeaderStream identifies the client's pipe to the gateway. Clients of one user share a key, and a modern
// client has no session. The gateway accepts this header only from a bridge.
const HeaderStream = "Collie-Stream"

// httpLink is the link to a gateway in another process.
type httpLink struct {
	gateway Gateway
	url     *url.URL
	wire    *http.Transport
	err     error        // set if the URL is invalid
	gone    atomic.Bool  // the gateway no longer knows our key or session
	common  http.Header  // for every POST; read-only
	session atomic.Value // http.Header for POSTs in the legacy session; read-only
}

func newHTTPLink(g Gateway, stream string) *httpLink {
	l := &httpLink{gateway: g, wire: &http.Transport{
		DialContext:     (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSClientConfig: g.TLS, TLSHandshakeTimeout: dialTime,
		MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTime,
		ReadBufferSize: 16 << 10, DisableCompression: true,
	}}
	if l.url, l.err = url.Parse(g.URL); l.err == nil && l.url.Host == "" {
		l.err = errors.New("the URL of the gateway names no host")
	}
	l.common = http.Header{
		"Accept":        {"application/json, text/event-stream"},
		"Content-Type":  {"application/json"},
		"Authorization": {"Bearer " + g.Key},
		"User-Agent":    {"collie"},
		HeaderStream:    {stream},
	}
	return l
}

func (l *httpLink) connectsTo(g Gateway) bool {
	return !l.gone.Load() && l.gateway.URL == g.URL && l.gateway.Key == g.Key
}

// sessionHeader returns the header for requests of the session, nil if there is none.
func (l *httpLink) sessionHeader() http.Header {
	h, _ := l.session.Load().(http.Header)
	return h
}

// requestHeader returns the header for a request. It must not be changed.
func (l *httpLink) requestHeader(f *request) http.Header {
	switch {
	case f.isInitialize():
		return l.common
	case !f.modern:
		if h := l.sessionHeader(); h != nil {
			return h
		}
		return l.common
	}
	h := make(http.Header, len(l.common)+3)
	maps.Copy(h, l.common)
	h[headerMethod] = []string{f.m.Method}
	if version := mcp.GetString(f.m.Params, "_meta", mcp.MetaVersion); version == mcp.EncodeHeaderValue(version) {
		h[headerVersion] = []string{version}
	}
	switch f.m.Method {
	case "tools/call", "prompts/get":
		h[headerName] = []string{mcp.EncodeHeaderValue(mcp.GetString(f.m.Params, "name"))}
	case "resources/read":
		h[headerName] = []string{mcp.EncodeHeaderValue(mcp.GetString(f.m.Params, "uri"))}
	}
	return h
}

// send makes one HTTP request. The error is a [*lostError].
func (l *httpLink) send(ctx context.Context, method string, h http.Header, body []byte) (*http.Response, error) {
	if l.err != nil {
		return nil, &lostError{err: l.err}
	}
	req := &http.Request{
		Method: method, URL: l.url, Host: l.url.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	var sent atomic.Bool
	if body != nil {
		req.ContentLength = int64(len(body))
		req.Body = newRequestBody(body, &sent)
		req.GetBody = func() (io.ReadCloser, error) {
			sent.Store(false) // net/http retries only if nothing was sent
			return newRequestBody(body, &sent), nil
		}
	}
	resp, err := l.wire.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, &lostError{sent: sent.Load() && !notFullySent(err), err: err}
	}
	return resp, nil
}

// notFullySent reports whether the request was not sent completely, so that the gateway ignores it.
func notFullySent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "write" || op.Op == "readfrom")
}

// requestBody is a request body that records when it begins to be sent.
type requestBody struct {
	bytes.Reader
	sent *atomic.Bool
}

func newRequestBody(b []byte, sent *atomic.Bool) *requestBody {
	p := &requestBody{sent: sent}
	p.Reset(b)
	return p
}

// Read reads the body.
func (p *requestBody) Read(b []byte) (int, error) {
	p.sent.Store(true)
	return p.Reader.Read(b)
}

// WriteTo writes the body.
func (p *requestBody) WriteTo(w io.Writer) (int64, error) {
	p.sent.Store(true)
	return p.Reader.WriteTo(w)
}

// Close does nothing.
func (p *requestBody) Close() error { return nil }

// tell posts a message that gets no answer.
func (l *httpLink) tell(ctx context.Context, raw []byte, about *request) error {
	h := l.sessionHeader()
	switch {
	case about != nil && (about.modern || h == nil): // such a request is cancelled by closing its HTTP exchange
		return nil
	case h == nil:
		h = l.modernNoticeHeader(raw)
	}
	resp, err := l.send(ctx, http.MethodPost, h, raw) //nolint:bodyclose // discard closes it
	if err != nil {
		return err
	}
	defer discard(resp.Body)
	if resp.StatusCode/100 == 2 {
		return nil
	}
	if err := l.lostIfGone(resp); err != nil {
		return err
	}
	return &refusedError{resp.StatusCode}
}

// refusedError says that a gateway refused a message that gets no answer.
type refusedError struct {
	status int // of HTTP
}

func (e *refusedError) Error() string { return fmt.Sprintf("http status %d", e.status) }

// modernNoticeHeader returns the header for a notification of a client without a session.
func (l *httpLink) modernNoticeHeader(raw []byte) http.Header {
	h := l.common.Clone()
	h[headerVersion] = []string{mcp.ModernVersions[0]}
	h[headerMethod] = []string{mcp.EncodeHeaderValue(mcp.GetString(raw, "method"))}
	return h
}

// lostIfGone returns an error if the status means that the gateway no longer knows us, else nil. The request was
// not executed.
func (l *httpLink) lostIfGone(resp *http.Response) error {
	if !isGoneStatus(resp.StatusCode) {
		return nil
	}
	l.gone.Store(true)
	return &lostError{err: fmt.Errorf("http status %s", resp.Status)}
}

// isGoneStatus reports whether a status means that the gateway does not know our key or session.
func isGoneStatus(code int) bool {
	return code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusNotFound
}

// close ends the legacy session.
func (l *httpLink) close(ctx context.Context) {
	if h := l.sessionHeader(); h != nil && !l.gone.Load() {
		if resp, err := l.send(ctx, http.MethodDelete, h, nil); err == nil { //nolint:bodyclose // discard closes it
			discard(resp.Body)
		}
	}
	l.wire.CloseIdleConnections()
}

// discard reads a little of a body, so that the connection can be reused, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}

func isStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}
